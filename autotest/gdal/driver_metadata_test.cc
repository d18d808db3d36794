/* driver_metadata_test.cc -- what `gdalinfo --format REFS` says. */
#include "driver_test.h"

#include <cpl_minixml.h>

using namespace refs_test;

namespace {

std::string of_driver(const char *name) {
    return item(GDALGetDriverByName("REFS"), name);
}

} // namespace

TEST(Driver, SaysWhatItIsAndWhatItCan) {
    EXPECT_NE(of_driver(GDAL_DMD_LONGNAME), "");
    EXPECT_NE(of_driver(GDAL_DMD_HELPTOPIC), "");
    for (const char *capability :
         {GDAL_DCAP_RASTER, GDAL_DCAP_OPEN, GDAL_DCAP_VIRTUALIO, GDAL_DMD_SUBDATASETS,
          GDAL_DCAP_CREATE, GDAL_DCAP_CREATECOPY, GDAL_DCAP_CREATECOPY_MULTIDIMENSIONAL})
        EXPECT_EQ(of_driver(capability), "YES") << capability;
    EXPECT_EQ(of_driver(GDAL_DCAP_VECTOR), "");
}

TEST(Driver, DocumentsItsOpenOptionsInXml) {
    CPLXMLNode *root = CPLParseXMLString(of_driver(GDAL_DMD_OPENOPTIONLIST).c_str());
    ASSERT_NE(root, nullptr);
    EXPECT_STREQ(root->pszValue, "OpenOptionList");
    bool assume_longlat = false;
    int n = 0; // dialogs have a row for each
    for (const CPLXMLNode *node = root->psChild; node; node = node->psNext) {
        if (node->eType != CXT_Element) continue;
        EXPECT_STREQ(node->pszValue, "Option");
        n++;
        const std::string name = CPLGetXMLValue(node, "name", "");
        EXPECT_NE(name, "");
        EXPECT_NE(std::string(CPLGetXMLValue(node, "type", "")), "") << name;
        EXPECT_NE(std::string(CPLGetXMLValue(node, "description", "")), "") << name;
        assume_longlat |= name == "ASSUME_LONGLAT";
    }
    EXPECT_TRUE(assume_longlat);
    EXPECT_LE(n, 8);
    CPLDestroyXMLNode(root);
}

TEST(Driver, WarnsOfOpenOptionsItDoesNotHave) {
    ErrorLog log;
    EXPECT_NE(open(subdataset(sample("sample.json"), "t2m"), {"NO_SUCH_OPTION=1"}), nullptr);
    ASSERT_EQ(log.warnings().size(), 1u);
    EXPECT_EQ(log.warnings()[0], "driver REFS does not support open option NO_SUCH_OPTION");
    EXPECT_NE(open(subdataset(sample("sample.json"), "t2m"), {"MAX_REFERENCE=1"}), nullptr);
    ASSERT_EQ(log.warnings().size(), 2u);
    EXPECT_EQ(log.warnings()[1], "driver REFS does not support open option MAX_REFERENCE: did you "
                                 "mean MAX_REFERENCES?");
    EXPECT_NE(open(subdataset(sample("sample.json"), "t2m"),
                   {"NO_SUCH_OPTION=1", "VALIDATE_OPEN_OPTIONS=NO"}),
              nullptr);
    EXPECT_EQ(log.warnings().size(), 2u);
}
