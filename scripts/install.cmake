# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and the Debian package of it (`make package`).
#
#   bin/                      weft, weft-relay, weft-sim and the programs that it goes on as; weft-node and what attaches to it
#   lib/libweftmcast.so       plugin of OpenSM, where it looks for plugins
#   lib/, include/weft/       golden models and generators and the host driver as static libraries, with CMake package `weft` (targets weft::mcast, ...)
#   share/weft/rtl/           SystemVerilog with its file lists; formats/ holds the generated packages
#   share/man/man1/, share/bash-completion/completions/
#
# Components (`cmake --install build --component NAME`): programs, with their manual pages and completion; libraries, with headers; registers (weft_registers.h alone); rtl; docs.
# The last three need nothing built.
include(GNUInstallDirs)

set(documented weft weft-relay weft-sim weft-node weft-pingpong weft-copy weft-allgather weft-node-barrier weft_write_bw weft_write_lat)
set(programs ${documented} weft-sim-bench weft-sim-soak weft-sim-bare)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libraries)
install(TARGETS ${programs} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT programs)
install(TARGETS weftmcast LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT programs)

# --- Libraries ---------------------------------------------------------------------------------------------------------

set(libraries model topology mcfdbs mcast switch barrier route switchfabric fabric driver)
set(headers "${CMAKE_INSTALL_INCLUDEDIR}/weft")
foreach(library IN LISTS libraries)
  # In the build tree headers lie in model/ and sw/, installed in include/weft.
  set_target_properties(weft_${library} PROPERTIES
    EXPORT_NAME ${library}
    INTERFACE_INCLUDE_DIRECTORIES "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/model>;$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/sw>;$<INSTALL_INTERFACE:${headers}>")
  install(TARGETS weft_${library} EXPORT weft_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endforeach()
set_target_properties(weft_formats PROPERTIES
  EXPORT_NAME formats
  INTERFACE_INCLUDE_DIRECTORIES "$<BUILD_INTERFACE:${WEFT_GEN_DIR}/include>;$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
install(TARGETS weft_formats EXPORT weft_targets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/model/" DESTINATION "${headers}" FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/sw/driver" DESTINATION "${headers}" FILES_MATCHING REGEX "\\.hp*$")
install(DIRECTORY "${WEFT_GEN_DIR}/include/weft" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" PATTERN weft_registers.h EXCLUDE)
install(FILES "${WEFT_GEN_DIR}/include/weft/weft_registers.h" DESTINATION "${headers}" COMPONENT registers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
install(EXPORT weft_targets NAMESPACE weft:: DESTINATION "${package_folder}")
include(CMakePackageConfigHelpers)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/weftConfig.cmake.in" weftConfig.cmake INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file(weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weftConfig.cmake" "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake" DESTINATION "${package_folder}")

# --- RTL ---------------------------------------------------------------------------------------------------------------

install(DIRECTORY "${PROJECT_SOURCE_DIR}/rtl" DESTINATION "${CMAKE_INSTALL_DATADIR}/weft" COMPONENT rtl
  FILES_MATCHING REGEX "\\.(svh?|f|vlt)$")
install(DIRECTORY "${WEFT_GEN_DIR}/rtl/" DESTINATION "${CMAKE_INSTALL_DATADIR}/weft/rtl/formats" COMPONENT rtl FILES_MATCHING PATTERN "*.sv")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs RENAME copyright)
install(FILES NOTICE CHANGELOG.md README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs)

# --- Manual pages and completion, both made of what the programs say of themselves ------------------------------------------

find_program(HELP2MAN help2man REQUIRED)
set(man_folder "${PROJECT_BINARY_DIR}/man")
set(documented_files)
foreach(program IN LISTS documented)
  list(APPEND documented_files "$<TARGET_FILE:${program}>")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/completion.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
    COMPONENT programs RENAME ${program})
endforeach()
# Of the default target, as all else that is installed; anew when a program is.
set(man_stamp "${man_folder}/all.stamp")
add_custom_command(OUTPUT "${man_stamp}"
  COMMAND "${CMAKE_COMMAND}" -E rm -rf "${man_folder}"
  COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_LIST_DIR}/manual_pages.py" --help2man "${HELP2MAN}" --out "${man_folder}"
          ${documented_files}
  COMMAND "${CMAKE_COMMAND}" -E touch "${man_stamp}"
  DEPENDS ${documented} "${CMAKE_CURRENT_LIST_DIR}/manual_pages.py" COMMENT "Manual pages" VERBATIM)
add_custom_target(man ALL DEPENDS "${man_stamp}")
install(CODE "if(NOT EXISTS \"${man_stamp}\")
  message(FATAL_ERROR \"the manual pages are not built: cmake --build ${PROJECT_BINARY_DIR}\")
endif()" COMPONENT programs)
install(DIRECTORY "${man_folder}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT programs FILES_MATCHING PATTERN "*.1.gz")

# What has to be built before `cmake --install`.
add_custom_target(installable)
add_dependencies(installable ${programs} weftmcast man)
foreach(library IN LISTS libraries)
  add_dependencies(installable weft_${library})
endforeach()

# --- Debian package ----------------------------------------------------------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR weft)
set(CPACK_PACKAGE_CONTACT "weft <weft@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "RDMA engine and switch lookup block in SystemVerilog, golden models, simulations of the RTL,
 and generators of multicast tables, fault-tolerant routes and barriers for real fabrics.")
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "opensm, ibsim-utils, infiniband-diags, libfmt-dev, nlohmann-json3-dev, verilator")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
