# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What is installed, in three parts: runtime (who traces), lib (programs that trace by themselves) and dev (who writes one, or a provider,
# or a program with probes). `cpack -G DEB` makes the packages weft, libweft0 and weft-dev of them.
include(CMakePackageConfigHelpers)

install(TARGETS trace-cli weft-plugin-check COMPONENT runtime)
install(DIRECTORY config/sets/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/sets COMPONENT runtime
	FILES_MATCHING PATTERN "*.yaml")
install(FILES docs/probe-set.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/weft COMPONENT runtime)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime FILES_MATCHING PATTERN "*.md")
install(FILES cli/completion/trace-cli.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
	RENAME trace-cli COMPONENT runtime)
install(FILES cli/completion/_trace-cli DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT runtime)

# Manual pages are the reference pages, made by lowdown where it is installed.
find_program(LOWDOWN lowdown)
function(weft_man page section title)
	if(NOT LOWDOWN)
		return()
	endif()
	get_filename_component(source ${page} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
	set(out ${CMAKE_BINARY_DIR}/man/${title}.${section})
	add_custom_command(OUTPUT ${out} DEPENDS ${source}
		COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
		COMMAND ${LOWDOWN} -s -Tman -M title=${title} -M section=${section}
			-M "source=weft ${PROJECT_VERSION}" -o ${out} ${source})
	set_property(GLOBAL APPEND PROPERTY WEFT_MAN_PAGES ${out})
	install(FILES ${out} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT runtime)
endfunction()
weft_man(docs/reference/trace-cli.md 1 trace-cli)
weft_man(docs/reference/probe-set.md 5 weft-probe-set)
weft_man(docs/reference/language.md 7 weft-language)
weft_man(docs/reference/losses.md 7 weft-losses)
get_property(man_pages GLOBAL PROPERTY WEFT_MAN_PAGES)
add_custom_target(man ALL DEPENDS ${man_pages})

# For those who write providers: the header, pkg-config's file and CMake's package.
install(DIRECTORY plugins/include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
configure_file(cmake/weft-provider.pc.in ${CMAKE_BINARY_DIR}/weft-provider.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/weft-provider.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
configure_package_config_file(cmake/weft-config.cmake.in ${CMAKE_BINARY_DIR}/weft-config.cmake
	INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/weft-config.cmake ${CMAKE_BINARY_DIR}/weft-config-version.cmake
	cmake/provider.map DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft COMPONENT dev)
install(DIRECTORY plugins/example/ DESTINATION ${CMAKE_INSTALL_DOCDIR}-dev/example COMPONENT dev PATTERN .clang-tidy EXCLUDE)
install(FILES plugins/conformance/conformance.c DESTINATION ${CMAKE_INSTALL_DOCDIR}-dev/conformance COMPONENT dev)
install(FILES plugins/ABI.md DESTINATION ${CMAKE_INSTALL_DOCDIR}-dev COMPONENT dev)

# For programs that trace: the library.
install(TARGETS weft-shared LIBRARY COMPONENT lib NAMELINK_COMPONENT dev)
install(FILES ${CMAKE_BINARY_DIR}/embed/libweft.a DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(FILES embed/include/weft/weft.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft COMPONENT dev)
configure_file(cmake/weft.pc.in ${CMAKE_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
install(DIRECTORY examples/embed/ DESTINATION ${CMAKE_INSTALL_DOCDIR}-dev/embed COMPONENT dev)

# For programs that declare probes of their own: the library, which needs no weft to be there.
install(TARGETS weft-user-shared LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS weft-user-static ARCHIVE COMPONENT dev)
install(FILES user/include/weft/user.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft COMPONENT dev)
configure_file(cmake/weft-user.pc.in ${CMAKE_BINARY_DIR}/weft-user.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/weft-user.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
install(DIRECTORY examples/user-syscall/ DESTINATION ${CMAKE_INSTALL_DOCDIR}-dev/user-syscall COMPONENT dev)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR "the weft authors")
set(CPACK_PACKAGE_CONTACT "the weft authors <weft@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "plugin-driven tracing of kernels and programs")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime lib dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME weft)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# The library finds the providers of the package weft; a program may bring its own.
set(CPACK_DEBIAN_LIB_PACKAGE_NAME libweft0)
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIB_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIB_PACKAGE_RECOMMENDS weft)
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/libweft0/triggers ${CMAKE_SOURCE_DIR}/cmake/libweft0/shlibs)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME weft-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libweft0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS weft)
set(CPACK_STRIP_FILES ON)
include(CPack)
