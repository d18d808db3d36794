/* s3nc.h -- object stores by alias, from the configuration file of S3netCDF4 (refs/s3nc.h).
 *
 * The object s3://alias/bucket/key is at the location /vsis3/alias~1/bucket/key, in which the
 * number distinguishes servers of one alias in different files: a location alone says which server
 * is asked, and with which identity. No bucket has such a name.
 */
#ifndef REFS_GDAL_S3NC_H
#define REFS_GDAL_S3NC_H

#include <memory>
#include <string>
#include <vector>

#include "cpl_string.h"
#include "refs/s3nc.h"

/** A configuration as it is now. Does not change, and may be used from several threads. */
class RefsS3nc {
  public:
    /** By the open option S3NC_CONFIG, the configuration options S3NC_CONFIG and S3_NC_CONFIG, or
     * ~/.s3nc.json. If there is no such file, or the option is NONE, there are no aliases and no
     * limits; a file that the open option names must be there. */
    static std::shared_ptr<const RefsS3nc> open(CSLConstList options, refs_error *error);

    /** The location of a set that the user has named: of an alias, or as it is. */
    std::string locate(const std::string &location) const;

    /** Appends to rewrites of the user, "old=>new", those of aliases, also in what they lead to. */
    CPLStringList withAliases(CSLConstList rewrites) const;

    /** All of it that matters, as one text without secrets. */
    const std::string &identity() const { return identity_; }

    /** 0: not said. */
    uint64_t memory() const { return memory_; }
    uint64_t maxFiles() const { return maxFiles_; }
    uint64_t partBytes() const { return partBytes_; }
    bool isSerial() const { return isSerial_; }

  private:
    RefsS3nc() = default;
    void take(const refs_s3nc &config, const std::string &file);

    struct Alias {
        std::string from, to; ///< "s3://a/" and "s3://a~1/"
    };
    std::vector<Alias> aliases_;
    std::string identity_;
    uint64_t memory_ = 0, maxFiles_ = 0, partBytes_ = 0;
    bool isSerial_ = false;
};

/** The server of an alias. */
struct RefsS3ncHost {
    std::string alias, file; ///< and the file that says so
    std::string endpoint, accessKey, secretKey;
    refs_s3nc_host server; ///< whose strings are those

    bool isSigned() const { return !accessKey.empty(); }
};

/** The server that the first part of a location of S3 names, or null; the file that says so, or
 * that was read in vain, to `*file`, or null. Both live as long as the process. */
const refs_s3nc_host *RefsFindAlias(const std::string &name, const char **file);

/** The server that a location names, which lives as long as the process; null: none of an alias. */
const RefsS3ncHost *RefsS3ncHostOf(const char *location);

/** While it lives, GDAL asks on this thread for a location as the server of its alias wants it. */
class RefsS3ncNamed {
  public:
    explicit RefsS3ncNamed(const char *location);
    ~RefsS3ncNamed();
    RefsS3ncNamed(const RefsS3ncNamed &) = delete;
    RefsS3ncNamed &operator=(const RefsS3ncNamed &) = delete;

    /** GDAL's name of it. */
    const char *get() const { return name_.c_str(); }

    /** Whether GDAL would ask that server: options that are set for a bucket may name another. */
    bool isRightServer() const;

  private:
    void set(const char *option, const char *value);
    const RefsS3ncHost *host_;
    std::string name_;
    CPLStringList before_;
    std::vector<std::string> changed_;
};

/** The advice for a bucket that is refused or is not there, for people; "" without advice. */
std::string RefsS3ncAdvice(const char *location);

#endif
