# What `cmake --install` and cpack put into packages (`./apimesh package`, deploy/packages). Three components:
#   programs   the programs of a mesh, with man page and completions
#   system     the systemd unit, its user and its options: only in the Debian package
#   libraries  the shared libraries that the programs load, except those of glibc: only in the archive
# The programs find each other in their own folder, and libraries in ../lib beside it; if that folder does not exist, those of the system.
set(programs apimesh store store-tool object-check core-api extensions-api authn-authz aggregator console)
set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
foreach(program IN LISTS programs)
  # The older of the two tags also holds for the libraries that a library loads.
  target_link_options(${program} PRIVATE LINKER:--disable-new-dtags)
endforeach()

install(TARGETS ${programs} RUNTIME_DEPENDENCY_SET loaded RUNTIME DESTINATION lib/apimesh/bin COMPONENT programs)
install(RUNTIME_DEPENDENCY_SET loaded PRE_EXCLUDE_REGEXES "^(ld-linux|libc\\.|libm\\.|libdl\\.|librt\\.|libpthread\\.)"
        LIBRARY DESTINATION lib/apimesh/lib COMPONENT libraries)
install(CODE [[
  foreach(link bin/apimesh:../lib/apimesh/bin/apimesh lib/apimesh/bin/kube-apiserver:apimesh)
    string(REGEX MATCH "^(.*):(.*)$" _ ${link})
    get_filename_component(folder $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${CMAKE_MATCH_1} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${CMAKE_MATCH_2} $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${CMAKE_MATCH_1} SYMBOLIC)
  endforeach()
]] COMPONENT programs)
set(pages ${CMAKE_BINARY_DIR}/package)
install(FILES ${pages}/apimesh.1 DESTINATION share/man/man1 COMPONENT programs)
install(FILES ${pages}/apimesh.bash DESTINATION share/bash-completion/completions RENAME apimesh COMPONENT programs)
install(FILES ${pages}/_apimesh DESTINATION share/zsh/vendor-completions COMPONENT programs)
install(FILES ${pages}/apimesh.fish DESTINATION share/fish/vendor_completions.d COMPONENT programs)
# The pages of the web console, which tools/console_pages builds if npm is available.
install(DIRECTORY ${CMAKE_BINARY_DIR}/console DESTINATION lib/apimesh COMPONENT programs OPTIONAL)
install(FILES LICENSE DESTINATION share/doc/apimesh RENAME copyright COMPONENT programs)
install(FILES deploy/packages/apimesh.service DESTINATION lib/systemd/system COMPONENT system)
install(FILES deploy/packages/sysusers.conf DESTINATION lib/sysusers.d RENAME apimesh.conf COMPONENT system)

set(CPACK_PACKAGE_NAME apimesh)
set(CPACK_PACKAGE_VENDOR apimesh)
set(CPACK_PACKAGE_CONTACT "the maintainers of apimesh <maintainers@apimesh.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "the Kubernetes API server as a mesh of processes")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_MONOLITHIC_INSTALL OFF)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/deploy/packages/generators.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "kubernetes-client")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${CMAKE_SOURCE_DIR}/deploy/packages/postinst;${CMAKE_SOURCE_DIR}/deploy/packages/prerm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
