# The components of each kind of package (cmake/packaging.cmake).
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_COMPONENTS_ALL programs system)
else()
  # The name of the file and of the folder in it.
  string(TOLOWER "apimesh-${CPACK_PACKAGE_VERSION}-${CPACK_SYSTEM_NAME}" CPACK_PACKAGE_FILE_NAME)
  set(CPACK_ARCHIVE_FILE_NAME ${CPACK_PACKAGE_FILE_NAME})
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_COMPONENTS_ALL programs libraries)
endif()
