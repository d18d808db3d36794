/* algorithms.cpp -- see algorithms.h. Options are those of the verbs of module cli, which documents
 * them. */
#include "algorithms.h"

#include <list>

#include "gdalalgorithm.h"

#include "refs/verbs.h"

namespace {

class Verb final : public GDALAlgorithm {
  public:
    explicit Verb(const tool_verb *verb)
        : GDALAlgorithm(verb->name, verb->purpose, "/drivers/raster/refs.html"), verb_(verb) {
        if (strchr(verb->synopsis, ' ') != nullptr || *verb->synopsis != '\0')
            AddArg("name", 0, verb->synopsis, &names_)
                .SetPositional()
                .SetPackedValuesAllowed(false);
        for (const tool_option *option = tool_options; option->name != nullptr; option++)
            if (strchr(verb->options, option->letter) != nullptr && GetArg(option->name) == nullptr)
                add(*option);
    }

  private:
    /** An option and its value. */
    struct Given {
        const tool_option *option;
        bool isSet;
        std::vector<std::string> values;
    };

    void add(const tool_option &option) {
        given_.push_back({&option, false, {}});
        Given &given = given_.back();
        const char letter = option.letter == 'o' ? 'o' : '\0';
        if (option.value == nullptr)
            AddArg(option.name, letter, option.text, &given.isSet);
        else
            AddArg(option.name, letter, option.text, &given.values).SetPackedValuesAllowed(false);
    }

    /** The equivalent command line. */
    std::vector<std::string> commandLine() const {
        std::vector<std::string> line;
        for (const Given &given : given_) {
            const std::string name = std::string("--") + given.option->name;
            if (given.isSet) line.push_back(name);
            for (const std::string &value : given.values) line.push_back(name + "=" + value);
        }
        line.push_back("--");
        line.insert(line.end(), names_.begin(), names_.end());
        return line;
    }

    bool RunImpl(GDALProgressFunc, void *) override {
        std::vector<std::string> line = commandLine();
        std::vector<char *> words;
        for (std::string &word : line) words.push_back(&word[0]);
        tool_arguments arguments = {};
        const int n = static_cast<int>(words.size());
        const bool isRead = tool_read_arguments(verb_, n, words.data(), &arguments);
        const tool_exit result = isRead ? verb_->run(&arguments) : TOOL_USAGE;
        tool_arguments_clear(&arguments);
        fflush(stdout);
        if (result == TOOL_OK) return true;
        ReportError(CE_Failure, CPLE_AppDefined, "refs %s ended with %d", verb_->name,
                    static_cast<int>(result));
        return false;
    }

    const tool_verb *verb_;
    std::vector<std::string> names_;
    std::list<Given> given_; // a list, because GDAL keeps addresses of its items
};

GDALAlgorithm *instantiate(const std::vector<std::string> &path) {
    const tool_verb *verb = path.size() == 1 ? tool_find_verb(path[0].c_str()) : nullptr;
    return verb != nullptr ? new Verb(verb) : nullptr;
}

} // namespace

void RefsTellAlgorithms(GDALDriver *driver) {
    driver->pfnInstantiateAlgorithm = instantiate;
    for (const tool_verb *verb = tool_verbs; verb->name != nullptr; verb++)
        driver->DeclareAlgorithm({verb->name});
}
