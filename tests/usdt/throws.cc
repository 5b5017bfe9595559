/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* throws N: throws and catches N errors of the library and N of its own, which it throws again. */
#include <cstdlib>
#include <stdexcept>

struct own {
};

static void again()
{
	try {
		throw own();
	} catch (...) {
		throw;
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? std::atoi(argv[1]) : 1;

	for (int i = 0; i < n; i++) {
		try {
			throw std::runtime_error("of the library");
		} catch (const std::exception &) {
		}
		try {
			again();
		} catch (const own &) {
		}
	}
	return 0;
}
