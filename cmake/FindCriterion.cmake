# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
find_path(CRITERION_INCLUDE_DIR criterion/criterion.h)
find_library(CRITERION_LIBRARY criterion)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Criterion REQUIRED_VARS CRITERION_LIBRARY CRITERION_INCLUDE_DIR)
if(Criterion_FOUND AND NOT TARGET Criterion::Criterion)
	add_library(Criterion::Criterion UNKNOWN IMPORTED)
	set_target_properties(Criterion::Criterion PROPERTIES
		IMPORTED_LOCATION ${CRITERION_LIBRARY}
		INTERFACE_INCLUDE_DIRECTORIES ${CRITERION_INCLUDE_DIR})
endif()
