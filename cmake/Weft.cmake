# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What makes a part of the core, a provider plugin, a test suite: one line each.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(weft-flags INTERFACE)
target_compile_definitions(weft-flags INTERFACE _GNU_SOURCE)
target_compile_options(weft-flags INTERFACE -Wall -Wextra -Wshadow -Wstrict-prototypes
	-Wmissing-prototypes -Wpointer-arith -Wvla -fno-strict-aliasing -fno-omit-frame-pointer)
if(WEFT_WERROR)
	target_compile_options(weft-flags INTERFACE -Werror)
endif()
if(WEFT_SANITIZE)
	target_compile_options(weft-flags INTERFACE -fsanitize=address,undefined
		-fno-sanitize-recover=all)
	target_link_options(weft-flags INTERFACE -fsanitize=address,undefined)
endif()
if(WEFT_FUZZ)
	target_compile_options(weft-flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# weft_part(NAME [LIBS ...]): a static library of the .c files of this directory, in weft's warnings.
function(weft_part name)
	cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
	if(NOT ARG_SOURCES)
		file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
	endif()
	if(NOT ARG_SOURCES)
		add_library(${name} INTERFACE)
		target_link_libraries(${name} INTERFACE ${ARG_LIBS} weft-flags)
		return()
	endif()
	add_library(${name} STATIC ${ARG_SOURCES})
	target_link_libraries(${name} PUBLIC ${ARG_LIBS} PRIVATE weft-flags)
endfunction()

# weft_provider(NAME SOURCES ...): a plugin, build/<preset>/providers/NAME.so. Its only link to weft is
# the ABI header and the providers' own support library.
function(weft_provider name)
	cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
	add_library(provider-${name} MODULE ${ARG_SOURCES})
	set_target_properties(provider-${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
		LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/providers)
	target_link_libraries(provider-${name} PRIVATE weft-abi weft-flags ${ARG_LIBS})
	target_link_options(provider-${name} PRIVATE
		-Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/provider.map)
	# Tests bring providers too; those of the product are below providers/.
	set(product ${CMAKE_SOURCE_DIR}/providers)
	cmake_path(IS_PREFIX product ${CMAKE_CURRENT_SOURCE_DIR} is_product)
	if(is_product)
		install(TARGETS provider-${name} COMPONENT runtime
			LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft/providers)
	endif()
endfunction()

# weft_test(NAME SOURCES ... [LIBS ...] [SERIAL] [TIMEOUT s] [VM_ONLY]): a Criterion suite that ctest runs. A suite fails
# on its output too: Criterion exits 0 when LeakSanitizer finds a leak in a test's process. VM_ONLY: its kernel is one of
# tests/vm, for it asks for what the kernel at hand need not have.
function(weft_test name)
	cmake_parse_arguments(ARG "SERIAL;VM_ONLY" "TIMEOUT" "SOURCES;LIBS;ARGS;ENVIRONMENT" ${ARGN})
	add_executable(test-${name} ${ARG_SOURCES})
	target_link_libraries(test-${name} PRIVATE ${ARG_LIBS} Criterion::Criterion weft-flags)
	target_include_directories(test-${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
	target_compile_definitions(test-${name} PRIVATE
		WEFT_SOURCE_DIR="${CMAKE_SOURCE_DIR}" WEFT_BINARY_DIR="${CMAKE_BINARY_DIR}")
	set_property(GLOBAL APPEND PROPERTY WEFT_SUITES ${name}) # tests/vm runs them too
	if(ARG_VM_ONLY)
		return()
	endif()
	add_test(NAME ${name} COMMAND test-${name} --jobs 1 ${ARG_ARGS})
	if(NOT ARG_TIMEOUT)
		set(ARG_TIMEOUT 120)
	endif()
	set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT}
		FAIL_REGULAR_EXPRESSION "ERROR: (Leak|Address)Sanitizer;runtime error:"
		ENVIRONMENT "${ARG_ENVIRONMENT}")
	if(ARG_SERIAL)
		set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
	endif()
endfunction()

# weft_test_apart(NAME SUITE FILTER): what of a serial suite takes long and is in nobody's way; it runs beside others. The
# suite leaves it out.
function(weft_test_apart name suite filter)
	add_test(NAME ${name} COMMAND test-${suite} --jobs 1 --filter ${filter})
	get_test_property(${suite} FAIL_REGULAR_EXPRESSION failing)
	get_test_property(${suite} TIMEOUT timeout)
	set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} FAIL_REGULAR_EXPRESSION "${failing}")
endfunction()
