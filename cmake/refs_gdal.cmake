# GDAL 3.6 or later, as target GDAL::GDAL, by the package that GDAL itself installs. That answers for
# its own minor version, and some of them for no other: what is asked for is compared here.
find_package(GDAL CONFIG REQUIRED)
if(GDAL_VERSION VERSION_LESS 3.6)
  message(FATAL_ERROR "GDAL 3.6 or later is needed, this is ${GDAL_VERSION}")
endif()
