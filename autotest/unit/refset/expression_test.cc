// The expressions of templates. What they should give was compared with jinja2 3.1.

#include <gtest/gtest.h>

#include "set_under_test.h"

namespace {

// Opens a set whose generator makes one URL, "x" and `expression`, where i = 7, f = 2.5, s =
// "text", e = "", n = "5", big = 2^40 and t = true.
struct Rendered {
    explicit Rendered(const std::string &expression) {
        refs_buf url = REFS_BUF_INIT;
        const std::string text = "x{{" + expression + "}}";
        EXPECT_EQ(refs_json_write_string(View(text), &url, nullptr), REFS_OK);
        status = set.Open(R"({"version": 1, "gen": [{"key": "k", "dimensions": {"i": [7],
            "f": [2.5], "s": ["text"], "e": [""], "n": ["5"], "big": [1099511627776], "t": [true]},
            "url": )" + std::string(reinterpret_cast<const char *>(url.data), url.size) +
                          "}]}");
        refs_buf_clear(&url);
    }

    std::string Result() const {
        if (status != REFS_OK) return set.error.message;
        const std::string at = set.At("k");
        return at.substr(2, at.size() - 3);
    }

    SetUnderTest set;
    refs_status status;
};

struct Case {
    const char *expression;
    const char *result;
};

const Case kResults[] = {
    // literals
    {R"(1)", R"(1)"},
    {R"( 'a' )", R"(a)"},
    {R"("a'b")", R"(a'b)"},
    {R"('a\'b\\c')", R"(a'b\c)"},
    {R"('}}')", R"(}})"},
    {R"('')", R"()"},
    {R"(True)", R"(True)"},
    {R"(false)", R"(False)"},
    {R"(none)", R"(None)"},
    {R"(9223372036854775807)", R"(9223372036854775807)"},
    // floats as Python writes them
    {R"(1.5)", R"(1.5)"},
    {R"(2.0)", R"(2.0)"},
    {R"(0.1)", R"(0.1)"},
    {R"(1e3)", R"(1000.0)"},
    {R"(1e15)", R"(1000000000000000.0)"},
    {R"(123456789012345680.0)", R"(1.2345678901234568e+17)"},
    {R"(1e16)", R"(1e+16)"},
    {R"(1.5e300)", R"(1.5e+300)"},
    {R"(0.0001)", R"(0.0001)"},
    {R"(0.00012345)", R"(0.00012345)"},
    {R"(0.00001)", R"(1e-05)"},
    {R"(1.25e-7)", R"(1.25e-07)"},
    {R"(1/3)", R"(0.3333333333333333)"},
    {R"(2/3)", R"(0.6666666666666666)"},
    {R"(0.1+0.2)", R"(0.30000000000000004)"},
    {R"(100/7)", R"(14.285714285714286)"},
    {R"(0*-1.0)", R"(-0.0)"},
    // arithmetic
    {R"(i)", R"(7)"},
    {R"(i + 1)", R"(8)"},
    {R"((i + 1) * 1000)", R"(8000)"},
    {R"(i - 10)", R"(-3)"},
    {R"(i/2)", R"(3.5)"},
    {R"(8/2)", R"(4.0)"},
    {R"(i//2)", R"(3)"},
    {R"( -7//2)", R"(-4)"},
    {R"(7//-2)", R"(-4)"},
    {R"( -7 % 3)", R"(2)"},
    {R"(7 % -3)", R"(-2)"},
    {R"(7.5 // 2)", R"(3.0)"},
    {R"( -7.5 // 2)", R"(-4.0)"},
    {R"(7.5 % 2)", R"(1.5)"},
    {R"( -1.0 // -3)", R"(0.0)"},
    {R"( -3 % 0.25)", R"(0.0)"},
    {R"( 3 % -0.25)", R"(-0.0)"},
    {R"( -7.5 % 2)", R"(0.5)"},
    {R"(2**10)", R"(1024)"},
    {R"(2**-1)", R"(0.5)"},
    {R"(2**0.5)", R"(1.4142135623730951)"},
    {R"((-2)**3)", R"(-8)"},
    {R"(0**0)", R"(1)"},
    {R"(big * 4096)", R"(4503599627370496)"},
    {R"(+i)", R"(7)"},
    {R"( -i)", R"(-7)"},
    {R"( - -i)", R"(7)"},
    {R"(f * 2)", R"(5.0)"},
    {R"(t + 1)", R"(2)"},
    {R"(t * 3)", R"(3)"},
    // precedence, jinja2's own where it differs from Python's
    {R"(1 + 2 * 3)", R"(7)"},
    {R"(2 * 3 ** 2)", R"(18)"},
    {R"(( -2) ** 2)", R"(4)"},
    {R"(0 - 2 ** 2)", R"(-4)"},
    {R"(1 - -2 ** 2)", R"(-3)"},
    {R"(2 ** 3 ** 2)", R"(64)"},
    {R"(10 - 4 - 3)", R"(3)"},
    {R"(100 // 7 // 2)", R"(7)"},
    {R"(1 ~ 2 * 3)", R"(16)"},
    {R"(2 * 3 ~ 4)", R"(64)"},
    {R"(1 - 1|abs)", R"(0)"},
    {R"(0 - -3|abs)", R"(-3)"},
    // strings
    {R"('a' ~ 1 ~ 'b')", R"(a1b)"},
    {R"('a' + 'b')", R"(ab)"},
    {R"('ab' * 3)", R"(ababab)"},
    {R"(2 * 'ab')", R"(abab)"},
    {R"('ab' * -1)", R"()"},
    {R"(1.0 ~ true ~ none)", R"(1.0TrueNone)"},
    // comparisons and choices
    {R"(1 < 2)", R"(True)"},
    {R"(1 < 1)", R"(False)"},
    {R"(1 > 1)", R"(False)"},
    {R"('a' < 'a')", R"(False)"},
    {R"('a' >= 'a')", R"(True)"},
    {R"(1 == 1.0)", R"(True)"},
    {R"(1 != 1)", R"(False)"},
    {R"('a' < 'b')", R"(True)"},
    {R"('a' == 1)", R"(False)"},
    {R"('a' != 1)", R"(True)"},
    {R"(1 < 2 < 3)", R"(True)"},
    {R"(1 < 3 < 2)", R"(False)"},
    {R"(3 >= 3 and 2 <= 1)", R"(False)"},
    {R"(not 0)", R"(True)"},
    {R"(not 1 == 2)", R"(True)"},
    {R"(0 or 'z')", R"(z)"},
    {R"('a' and 'b')", R"(b)"},
    {R"(1 or 2 and 0)", R"(1)"},
    {R"(i if i > 1 else 'z')", R"(7)"},
    {R"('a' if e else 'b')", R"(b)"},
    {R"('a' if 0 else 'b' if 0 else 'c')", R"(c)"},
    {R"(1/0 if 0 else 5)", R"(5)"},
    {R"(0.0 or 'z')", R"(z)"},
    {R"(0.5 and 'z')", R"(z)"},
    {R"(none or () or 'z')", R"(z)"},
    {R"((0,) and 'z')", R"(z)"},
    {R"('a' if 0)", R"()"},
    {R"(1 or 1/0)", R"(1)"},
    {R"(0 and 1/0)", R"(0)"},
    {R"(none == none)", R"(True)"},
    // filters and methods
    {R"('12'|int + 1)", R"(13)"},
    {R"(' -12 '|int)", R"(-12)"},
    {R"(3.9|int)", R"(3)"},
    {R"(( -3.9)|int)", R"(-3)"},
    {R"(true|int)", R"(1)"},
    {R"(5|string * 2)", R"(55)"},
    {R"(5|float)", R"(5.0)"},
    {R"(n|float)", R"(5.0)"},
    {R"('2.50'|float * 2)", R"(5.0)"},
    {R"(' -007.25e1 '|float)", R"(-72.5)"},
    {R"('1E+3'|float)", R"(1000.0)"},
    {R"('x'|float(1.5))", R"(1.5)"},
    {R"(( -2.5)|abs)", R"(2.5)"},
    {R"(( -2)|abs + 2|abs)", R"(4)"},
    {R"(s|length)", R"(4)"},
    {R"(i|string|length)", R"(1)"},
    {R"(s.zfill(6))", R"(00text)"},
    {R"('-5'.zfill(4))", R"(-005)"},
    {R"((i|string).zfill(3))", R"(007)"},
    {R"(+true)", R"(True)"},
    {R"( +true)", R"(1)"},
    {R"('abc'.zfill(2))", R"(abc)"},
    {R"('é'.zfill(3))", R"(00é)"},
    // items, tests, and jinja2's other filters
    {R"(0x1f)", R"(31)"},
    {R"(0b1_01 + 0o17)", R"(20)"},
    {R"(1_000)", R"(1000)"},
    {R"(1_0.2_5)", R"(10.25)"},
    {R"('a' 'b' "c")", R"(abc)"},
    {R"('\x41\u00e9\d\t|')", "Aé\\d\t|"},
    {R"(s[0])", R"(t)"},
    {R"(s[-1])", R"(t)"},
    {R"('äöü'[1])", R"(ö)"},
    {R"(s[1:3])", R"(ex)"},
    {R"(s[:2])", R"(te)"},
    {R"(s[::-1])", R"(txet)"},
    {R"(s[-9:2])", R"(te)"},
    {R"('20200102'[:4] ~ '/' ~ '20200102'[4:6])", R"(2020/01)"},
    {R"([1, 2, 3][1])", R"(2)"},
    {R"((4, 5)[-1])", R"(5)"},
    {R"([1, 2, 3][1:]|join('-'))", R"(2-3)"},
    {R"({'a': 1, 'b': i}['b'])", R"(7)"},
    {R"({7: 'seven'}[i])", R"(seven)"},
    {R"([1, 2] == [1, 2])", R"(True)"},
    {R"((1, 2) == [1, 2])", R"(False)"},
    {R"(1 in (1, 2))", R"(True)"},
    {R"(7 not in [i])", R"(False)"},
    {R"('ex' in s)", R"(True)"},
    {R"('a' in {'a': 1})", R"(True)"},
    {R"(1 < 2 in [2])", R"(True)"},
    {R"(i is defined)", R"(True)"},
    {R"(nope is not defined)", R"(True)"},
    {R"(nope is undefined)", R"(True)"},
    {R"(i is number and s is string)", R"(True)"},
    {R"(i is odd)", R"(True)"},
    {R"(i is divisibleby 7)", R"(True)"},
    {R"(i is divisibleby(2))", R"(False)"},
    {R"(i is not even)", R"(True)"},
    {R"(i is eq 7)", R"(True)"},
    {R"(none is none)", R"(True)"},
    {R"('a' if i is gt 3 else 'b')", R"(a)"},
    {R"(nope|default('x'))", R"(x)"},
    {R"(e|default('x'))", R"()"},
    {R"(e|default('x', true))", R"(x)"},
    {R"(s[9]|d('x'))", R"(x)"},
    {R"(s|upper)", R"(TEXT)"},
    {R"('ABC'|lower)", R"(abc)"},
    {R"('hello world-foo'|title)", R"(Hello World-Foo)"},
    {R"('hELLO wORLD'|capitalize)", R"(Hello world)"},
    {R"(' x '|trim)", R"(x)"},
    {R"('a-b-c'|replace('-', '/'))", R"(a/b/c)"},
    {R"('a-b-c'|replace('-', '/', 1))", R"(a/b-c)"},
    {R"(2.675|round(2))", R"(2.67)"},
    {R"(2.5|round)", R"(2.0)"},
    {R"(2.1|round(0, 'ceil'))", R"(3.0)"},
    {R"(7|round)", R"(7)"},
    {R"([1, 'a', 2.5]|join)", R"(1a2.5)"},
    {R"([3, 1, 2]|max)", R"(3)"},
    {R"([3, 1, 2]|sum)", R"(6)"},
    {R"([]|length)", R"(0)"},
    {R"(s|first ~ s|last)", R"(tt)"},
    {R"(s|reverse)", R"(txet)"},
    {R"('a b/ü&'|urlencode)", R"(a%20b/%C3%BC%26)"},
    {R"('x'|int(3))", R"(3)"},
    {R"(s.upper())", R"(TEXT)"},
    {R"('a,b'.split(',')[1])", R"(b)"},
    {R"(' a  b '.split()|join('+'))", R"(a+b)"},
    {R"('-'.join(['a', 'b']))", R"(a-b)"},
    {R"(s.startswith('te'))", R"(True)"},
    {R"(s.endswith('te'))", R"(False)"},
    {R"(s.find('x'))", R"(2)"},
    {R"('7'.rjust(3, '0'))", R"(007)"},
    {R"('7'.center(4, '*'))", R"(*7**)"},
    {R"('xxaxx'.strip('x'))", R"(a)"},
    {R"('a.b'.replace('.', '_'))", R"(a_b)"},
    // '%'
    {R"('%03d' % i)", R"(007)"},
    {R"('%03d'|format(i))", R"(007)"},
    {R"('%d' % 3.9)", R"(3)"},
    {R"('%5d|%-5d|%+d|% d' % (i, i, i, i))", R"(    7|7    |+7| 7)"},
    {R"('%05d' % -42)", R"(-0042)"},
    {R"('%.3d' % i)", R"(007)"},
    {R"('%x %X %#x %o' % (255, 255, 255, 8))", R"(ff FF 0xff 10)"},
    {R"('%06.2f' % f)", R"(002.50)"},
    {R"('%f' % 1)", R"(1.000000)"},
    {R"('%e' % 12345.678)", R"(1.234568e+04)"},
    {R"('%s-%s' % ('a', 1))", R"(a-1)"},
    {R"('%5s|%-5s|%.2s' % ('ab', 'ab', 'abc'))", R"(   ab|ab   |ab)"},
    {R"('%05s' % 'ab')", R"(   ab)"},
    {R"('100%%' % ())", R"(100%)"},
    {R"('%s' % (1,))", R"(1)"},
    {R"('%s%s'|format('a', 2))", R"(a2)"},
    {R"('%i' % true)", R"(1)"},
    // str.format
    {R"('{:04d}'.format(i))", R"(0007)"},
    {R"('{}-{}'.format(i, s))", R"(7-text)"},
    {R"('{1}{0}'.format(i, s))", R"(text7)"},
    {R"('{a}{b:02d}'.format(a=s, b=i))", R"(text07)"},
    {R"('{:>5}|{:<5}|{:^5}|{:*^6}'.format('a', 'a', 'a', 'ab'))", R"(    a|a    |  a  |**ab**)"},
    {R"('{:5}|{:5}'.format(i, 'a'))", R"(    7|a    )"},
    {R"('{:+d} {:x} {:#X}'.format(i, 255, 255))", R"(+7 ff 0XFF)"},
    {R"('{:.2f} {:08.3f} {:e}'.format(f, f, f))", R"(2.50 0002.500 2.500000e+00)"},
    {R"('{:8.1f}|{:<8.1f}|'.format(f, f))", R"(     2.5|2.5     |)"},
    {R"('{} {}'.format(f, 1.0))", R"(2.5 1.0)"},
    {R"('{:.2}'.format('abc'))", R"(ab)"},
    {R"('{{}}'.format())", R"({})"},
    {R"('{:05d}'.format(-42))", R"(-0042)"},
    {R"('{:<05d}'.format(42))", R"(42000)"},
    {R"('{}'.format(true))", R"(True)"},
};

const Case kFailures[] = {
    // names
    {"j", "\"j\" is not defined"},
    {"range(3)", "there is no template \"range\" to be called"},
    {"s()", "\"s\" takes no arguments"},
    {"i.zfill(2)", "an integer has no method \"zfill\""},
    // what is left out of jinja2
    {"s.swapcase()", "method \"swapcase\" is not supported"},
    {"s|wordcount", "filter \"wordcount\" is not supported"},
    {"i is callable", "test \"callable\" is not supported"},
    {"'é'|upper", "the case of letters beyond ASCII"},
    {"s.x", "is not understood"},
    {"s[9]", "there is no such item"},
    {"s[1", "is not understood"},
    {"s[::0]", "the step of a slice is not an integer but 0"},
    {"i[0]", "an integer has no items"},
    {"[1, 2]", "a list is not a string"},
    {"{'a': 1}", "a dictionary is not a string"},
    {"{'a'}", "is not understood"},
    {"{'a': 1}['b']", "there is no such item"},
    {"1 in 2", "an integer cannot be in an integer"},
    {"i is", "is not understood"},
    {"nope is odd", "\"nope\" is not defined"},
    {"s|replace('', 'x')", "an empty string cannot be replaced"},
    {"s|upper(1)", "arguments where none are taken"},
    {"0x", "is not understood"},
    {"1__0", "is not understood"},
    {"'\\x4'", "is not understood"},
    {"''.__class__.__mro__", "is not understood"},
    // syntax
    {"", "is not understood"},
    {"1 +", "is not understood"},
    {"1 2", "\"2}}\" at character 6 is not understood"},
    {"(1", "is not understood"},
    {"1)", "is not understood"},
    {"'a", "does not end with \"}}\""},
    {"1 if", "is not understood"},
    {"s|", "is not understood"},
    {"(a=1)", "is not understood"},
    {"1 } }", "is not understood"},
    // kinds
    {"1 + 'a'", "+ is not defined for an integer and a string"},
    {"'a' - 'b'", "- is not defined for a string and a string"},
    {"none * 2", "* is not defined for none and an integer"},
    {"2 ** 'a'", "** is not defined for an integer and a string"},
    {"1 < 'a'", "an order is not defined for"},
    {" -s", "- is not defined for an integer and a string"},
    {"(1, 2)", "a tuple is not a string"},
    {"'a'|int", "\"a\" is not an integer of 64 bits"},
    {"'1.5'|int", "\"1.5\" is not an integer of 64 bits"},
    {"none|int", "none is not an integer of 64 bits"},
    {"'a'|float", "\"a\" is not a number"},
    {"''|float", "\"\" is not a number"},
    {"'1.'|float", "\"1.\" is not a number"},
    {"'1e'|float", "\"1e\" is not a number"},
    {"'1.5x'|float", "\"1.5x\" is not a number"},
    {"'--1'|float", "\"--1\" is not a number"},
    {"none|float", "none is not a number"},
    {"s|abs", "a string has no absolute value"},
    {"i|length", "an integer has no length"},
    {"s|length(1)", "arguments where none are taken"},
    // numbers
    {"1/0", "division by zero"},
    {"1//0", "division by zero"},
    {"1%0", "division by zero"},
    {"1.0//0", "division by zero"},
    {"0**-1", "division by zero"},
    {"(-1)**0.5", "a root of a negative number"},
    {"9223372036854775807 + 1", "an integer needs more than 64 bits"},
    {" -9223372036854775807 - 2", "an integer needs more than 64 bits"},
    {"big * big", "an integer needs more than 64 bits"},
    {"2 ** 63", "an integer needs more than 64 bits"},
    {"(0 - 9223372036854775807 - 1) // -1", "an integer needs more than 64 bits"},
    {"(0 - 9223372036854775807 - 1)|abs", "an integer needs more than 64 bits"},
    {"9223372036854775808", "\"9223372036854775808\" is not an integer of 64 bits"},
    {"1e300|int", "a float is not an integer of 64 bits"},
    // formats
    {"'%d' % 'a'", "a string cannot be formatted as 'd'"},
    {"'%x' % 1.5", "a float cannot be formatted as 'x'"},
    {"'%d %d' % 1", "needs more than 1 values"},
    {"'%d' % (1, 2)", "needs fewer than 2 values"},
    {"'%r' % 1", "format type 'r' is not supported"},
    {"'%' % 1", "is not complete"},
    {"'%99999d' % 1", "a width or precision is above 1000"},
    {"'%.101f' % 1", "a width or precision is above 100"},
    {"'%(a)s'|format(a=1)", "named values"},
    {"'{'.format(1)", "is not understood"},
    {"'}'.format(1)", "has a single '}'"},
    {"'{0.real}'.format(1)", "there is no value for field \"0.real\""},
    {"'{!r}'.format(1)", "there is no value for field \"!r\""},
    {"'{1}'.format(1)", "there is no value for field \"1\""},
    {"'{}{}'.format(1)", "needs more than 1 values"},
    {"'{}'.format(a=1)", "there is no value for a field without a name"},
    {"'{}{}'.format(1, a=1)", "there is no value for a field without a name"},
    {"'{:d}'.format(1.0)", "a float cannot be formatted as 'd'"},
    {"'{:.2d}'.format(1)", "integers have no precision"},
    {"'{:.2}'.format(1.5)", "needs a type"},
    {"'{:.2}'.format(1)", "needs a type"},
    {"'{:04}'.format(s)", "a string has no sign to fill behind"},
    {"'{:5}'.format(true)", "the format of a boolean needs a type"},
    {"'{:>5}'.format(none)", "the format of none needs a type"},
    {"10.0 ** 400", "a power is too large for a float"},
    {"'{:,}'.format(1)", "format type ',' is not supported"},
    // limits
    {"'aaaaaaaaaaaaaaaa' * 1000000000", "expression needs more than 1048576 bytes"},
    {"'a' * 9223372036854775807", "expression needs more than 1048576 bytes"},
    {"'ab' * 9223372036854775807", "expression needs more than 1048576 bytes"},
    {"'abc' * 9223372036854775807", "expression needs more than 1048576 bytes"},
    {"'a' * 4294967297", "expression needs more than 1048576 bytes"},
    {"s.zfill(9223372036854775807)", "expression needs more than 1048576 bytes"},
    {"s.zfill(4294967297)", "expression needs more than 1048576 bytes"},
    {"(((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))", "nested too deeply"},
    {" ---------------------------------1", "too many signs"},
    {"not not not not not not not not not not not not not not not not not not not not not not not "
     "not not not not not not not not not not 1",
     "too many \"not\""},
};

} // namespace

TEST(RefsetExpression, GivesWhatJinja2Gives) {
    for (const Case &c : kResults) {
        const Rendered rendered(c.expression);
        EXPECT_EQ(rendered.Result(), c.result) << c.expression;
    }
}

TEST(RefsetExpression, FailsWithAReasonThatQuotesIt) {
    for (const Case &c : kFailures) {
        const Rendered rendered(c.expression);
        EXPECT_NE(rendered.status, REFS_OK) << c.expression;
        EXPECT_NE(rendered.Result().find(c.result), std::string::npos) << c.expression << "\n"
                                                                       << rendered.Result();
        const std::string quoted = std::string("gen[0]: template \"x{{") + c.expression;
        EXPECT_NE(rendered.Result().find(quoted), std::string::npos) << rendered.Result();
    }
}

TEST(RefsetExpression, RefusesNulsBehindBackslashes) {
    const Rendered rendered(std::string("'\\\0'", 4));
    EXPECT_EQ(rendered.status, REFS_UNSUPPORTED);
}

TEST(RefsetExpression, TrimsWhiteSpaceAroundDashes) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"u": "x"},
                           "refs": {"a": ["s3://b/ {{- u -}} /c"], "b": ["{{ u -}} d\n"]}})"),
              REFS_OK);
    EXPECT_EQ(set.At("a"), "[s3://b/x/c]");
    EXPECT_EQ(set.At("b"), "[xd]");
}

TEST(RefsetExpression, IsLimitedInSize) {
    std::string sum = "1";
    for (int i = 0; i < 300; i++) sum += "+1";
    const Rendered rendered(sum);
    EXPECT_EQ(rendered.status, REFS_LIMIT);
    EXPECT_NE(rendered.Result().find("more than 500 operations"), std::string::npos);
}

TEST(RefsetExpression, IsLimitedInWhatItMakes) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"u": "x"},
                           "refs": {"a": ["{{u * 65536}}"], "b": ["{{u * 65537}}"]}})"),
              REFS_OK);
    EXPECT_EQ(set.At("a").size(), 65538u);
    EXPECT_EQ(set.At("b").substr(0, 14), "over a limit: ");
}

TEST(RefsetExpression, CannotCallOthersForever) {
    SetUnderTest set;
    const std::string twice = R"("{{a(a=b,b=c,c=d,d=e,e=e)}}{{a(a=b,b=c,c=d,d=e,e=e)}}")";
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"t": )" + twice +
                       R"(}, "refs": {"a": ["{{t(a=t,b=t,c=t,d=t,e=t)}}"]}})"),
              REFS_OK);
    EXPECT_EQ(set.At("a").substr(0, 14), "over a limit: ");
}
