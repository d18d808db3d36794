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
    {R"('}}')", R"(}})"},
    {R"('')", R"()"},
    {R"(9223372036854775807)", R"(9223372036854775807)"},
    // arithmetic
    {R"(i)", R"(7)"},
    {R"(i + 1)", R"(8)"},
    {R"((i + 1) * 1000)", R"(8000)"},
    {R"(i - 10)", R"(-3)"},
    {R"(i//2)", R"(3)"},
    {R"( -7//2)", R"(-4)"},
    {R"(7//-2)", R"(-4)"},
    {R"( -7 % 3)", R"(2)"},
    {R"(7 % -3)", R"(-2)"},
    {R"(2**10)", R"(1024)"},
    {R"((-2)**3)", R"(-8)"},
    {R"(0**0)", R"(1)"},
    {R"(big * 4096)", R"(4503599627370496)"},
    {R"( -i)", R"(-7)"},
    {R"( - -i)", R"(7)"},
    {R"( +i)", R"(7)"},
    {R"(2 - +i)", R"(-5)"},
    {R"( -+-+i)", R"(7)"},
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
    // strings
    {R"('a' ~ 1 ~ 'b')", R"(a1b)"},
    {R"('a' + 'b')", R"(ab)"},
    {R"(s + '-' ~ i // 2)", R"(text-3)"},
    // '%'
    {R"('%03d' % i)", R"(007)"},
    {R"('%03d'|format(i))", R"(007)"},
    {R"('%5d|%-5d|%+d|% d' % (i, i, i, i))", R"(    7|7    |+7| 7)"},
    {R"('%05d' % -42)", R"(-0042)"},
    {R"('%i|%x|%X|%o|%x' % (i, 255, 255, 8, -255))", R"(7|ff|FF|10|-ff)"},
    {R"('%3s|%-3s|' % ('é', 'é'))", R"(  é|é  |)"},
    {R"('%-05d|%+05d|%+s' % (i, i, i))", R"(7    |+0007|7)"},
    {R"('%d' % (i + 1) ~ '')", R"(8)"},
    {R"('%s-%s' % ('a', 1))", R"(a-1)"},
    {R"('%05s' % 'ab')", R"(   ab)"},
    {R"('100%%' % ())", R"(100%)"},
    {R"('%s' % (1,))", R"(1)"},
    {R"('%s%s'|format('a', 2))", R"(a2)"},
    // str.format
    {R"('{:04d}'.format(i))", R"(0007)"},
    {R"('{}-{}'.format(i, s))", R"(7-text)"},
    {R"('{1}{0}'.format(i, s))", R"(text7)"},
    {R"('{a}{b:02d}'.format(a=s, b=i))", R"(text07)"},
    {R"('{:>5}|{:<5}|{:^5}|{:*^6}'.format('a', 'a', 'a', 'ab'))", R"(    a|a    |  a  |**ab**)"},
    {R"('{:5}|{:5}'.format(i, 'a'))", R"(    7|a    )"},
    {R"('{:+d}|{: d}|{:-d}|{:x}|{:X}|{:o}'.format(i, i, i, 255, 255, 8))", R"(+7| 7|7|ff|FF|10)"},
    {R"('{:*>6}|{:=+5d}|{:s}'.format(i, i, s))", R"(*****7|+   7|text)"},
    {R"('{{}}'.format())", R"({})"},
    {R"('{:05d}'.format(-42))", R"(-0042)"},
    {R"('{:<05d}'.format(42))", R"(42000)"},
};

// What jinja2 has besides, which sets do not use.
const Case kRefused[] = {
    {"'é'.zfill(3)", "expected \"format(\", found \"zfill(3)}}\""},
    {"'\\x41\\u00e9\\d\\t|'",
     "expected the quote that ends the string, found \"\\x41\\u00e9\\d\\t"},
    {"'äöü'[1]", "expected one of + - * // % ** ~ or \"}}\", found \"[1]}}\""},
    {"'{:é>3}'.format(i)", "format \"{:é>3}\": expected a width and d, o, x, X or s"},
    {"'%*d' % (3, i)", "format \"%*d\": expected a width and d, o, x, X or s, found \"*\""},
    {"'a\\'b\\\\c'", "expected the quote that ends the string, found \"\\'b\\\\c'}}\""},
    {"True", "\"True\" is not defined"},
    {"false", "\"false\" is not defined"},
    {"none", "\"none\" is not defined"},
    {"1.5", "expected a decimal integer, found \"1.5}}\""},
    {"2.0", "expected a decimal integer, found \"2.0}}\""},
    {"0.1", "expected a decimal integer, found \"0.1}}\""},
    {"1e3", "expected a decimal integer, found \"1e3}}\""},
    {"1e15", "expected a decimal integer, found \"1e15}}\""},
    {"123456789012345680.0", "expected a decimal integer, found \"123456789012345680.0\""},
    {"1e16", "expected a decimal integer, found \"1e16}}\""},
    {"1.5e300", "expected a decimal integer, found \"1.5e300}}\""},
    {"0.0001", "expected a decimal integer, found \"0.0001}}\""},
    {"0.00012345", "expected a decimal integer, found \"0.00012345}}\""},
    {"0.00001", "expected a decimal integer, found \"0.00001}}\""},
    {"1.25e-7", "expected a decimal integer, found \"1.25e-7}}\""},
    {"1/3", "expected one of + - * // % ** ~ or \"}}\", found \"/3}}\""},
    {"2/3", "expected one of + - * // % ** ~ or \"}}\", found \"/3}}\""},
    {"0.1+0.2", "expected a decimal integer, found \"0.1+0.2}}\""},
    {"100/7", "expected one of + - * // % ** ~ or \"}}\", found \"/7}}\""},
    {"0*-1.0", "expected a decimal integer, found \"1.0}}\""},
    {"i/2", "expected one of + - * // % ** ~ or \"}}\", found \"/2}}\""},
    {"8/2", "expected one of + - * // % ** ~ or \"}}\", found \"/2}}\""},
    {"7.5 // 2", "expected a decimal integer, found \"7.5 // 2}}\""},
    {" -7.5 // 2", "expected a decimal integer, found \"7.5 // 2}}\""},
    {"7.5 % 2", "expected a decimal integer, found \"7.5 % 2}}\""},
    {" -1.0 // -3", "expected a decimal integer, found \"1.0 // -3}}\""},
    {" -3 % 0.25", "expected a decimal integer, found \"0.25}}\""},
    {" 3 % -0.25", "expected a decimal integer, found \"0.25}}\""},
    {" -7.5 % 2", "expected a decimal integer, found \"7.5 % 2}}\""},
    {"2**-1", "expected an exponent of at least 0, found -1"},
    {"2**0.5", "expected a decimal integer, found \"0.5}}\""},
    {"+i", "expected a space before a sign, found \"+i}}\""},
    {"f * 2", "\"*\": expected integers, found a string"},
    {"t + 1", "\"+\": expected integers, found a string"},
    {"t * 3", "\"*\": expected integers, found a string"},
    {"1 - 1|abs", "expected \"format(\", found \"abs}}\""},
    {"0 - -3|abs", "expected \"format(\", found \"abs}}\""},
    {"'ab' * 3", "\"*\": expected integers, found a string"},
    {"2 * 'ab'", "\"*\": expected integers, found a string"},
    {"'ab' * -1", "\"*\": expected integers, found a string"},
    {"1.0 ~ true ~ none", "expected a decimal integer, found \"1.0 ~ true ~ none}}\""},
    {"1 < 2", "expected one of + - * // % ** ~ or \"}}\", found \"< 2}}\""},
    {"1 < 1", "expected one of + - * // % ** ~ or \"}}\", found \"< 1}}\""},
    {"1 > 1", "expected one of + - * // % ** ~ or \"}}\", found \"> 1}}\""},
    {"'a' < 'a'", "expected one of + - * // % ** ~ or \"}}\", found \"< 'a'}}\""},
    {"'a' >= 'a'", "expected one of + - * // % ** ~ or \"}}\", found \">= 'a'}}\""},
    {"1 == 1.0", "expected one of + - * // % ** ~ or \"}}\", found \"== 1.0}}\""},
    {"1 != 1", "expected one of + - * // % ** ~ or \"}}\", found \"!= 1}}\""},
    {"'a' < 'b'", "expected one of + - * // % ** ~ or \"}}\", found \"< 'b'}}\""},
    {"'a' == 1", "expected one of + - * // % ** ~ or \"}}\", found \"== 1}}\""},
    {"'a' != 1", "expected one of + - * // % ** ~ or \"}}\", found \"!= 1}}\""},
    {"1 < 2 < 3", "expected one of + - * // % ** ~ or \"}}\", found \"< 2 < 3}}\""},
    {"1 < 3 < 2", "expected one of + - * // % ** ~ or \"}}\", found \"< 3 < 2}}\""},
    {"3 >= 3 and 2 <= 1", "expected one of + - * // % ** ~ or \"}}\", found \">= 3 and 2 <= 1}}\""},
    {"not 0", "expected one of + - * // % ** ~ or \"}}\", found \"0}}\""},
    {"not 1 == 2", "expected one of + - * // % ** ~ or \"}}\", found \"1 == 2}}\""},
    {"0 or 'z'", "expected one of + - * // % ** ~ or \"}}\", found \"or 'z'}}\""},
    {"'a' and 'b'", "expected one of + - * // % ** ~ or \"}}\", found \"and 'b'}}\""},
    {"1 or 2 and 0", "expected one of + - * // % ** ~ or \"}}\", found \"or 2 and 0}}\""},
    {"i if i > 1 else 'z'",
     "expected one of + - * // % ** ~ or \"}}\", found \"if i > 1 else 'z'}}\""},
    {"'a' if e else 'b'", "expected one of + - * // % ** ~ or \"}}\", found \"if e else 'b'}}\""},
    {"'a' if 0 else 'b' if 0 else 'c'",
     "expected one of + - * // % ** ~ or \"}}\", found \"if 0 else 'b' if 0 e\""},
    {"1/0 if 0 else 5", "expected one of + - * // % ** ~ or \"}}\", found \"/0 if 0 else 5}}\""},
    {"0.0 or 'z'", "expected a decimal integer, found \"0.0 or 'z'}}\""},
    {"0.5 and 'z'", "expected a decimal integer, found \"0.5 and 'z'}}\""},
    {"none or () or 'z'", "expected one of + - * // % ** ~ or \"}}\", found \"or () or 'z'}}\""},
    {"(0,) and 'z'", "expected one value in parentheses, found \"(0,) and 'z'}}\""},
    {"'a' if 0", "expected one of + - * // % ** ~ or \"}}\", found \"if 0}}\""},
    {"1 or 1/0", "expected one of + - * // % ** ~ or \"}}\", found \"or 1/0}}\""},
    {"0 and 1/0", "expected one of + - * // % ** ~ or \"}}\", found \"and 1/0}}\""},
    {"none == none", "expected one of + - * // % ** ~ or \"}}\", found \"== none}}\""},
    {"'12'|int + 1", "expected \"format(\", found \"int + 1}}\""},
    {"' -12 '|int", "expected \"format(\", found \"int}}\""},
    {"3.9|int", "expected a decimal integer, found \"3.9|int}}\""},
    {"( -3.9)|int", "expected a decimal integer, found \"3.9)|int}}\""},
    {"true|int", "expected \"format(\", found \"int}}\""},
    {"5|string * 2", "expected \"format(\", found \"string * 2}}\""},
    {"5|float", "expected \"format(\", found \"float}}\""},
    {"n|float", "expected \"format(\", found \"float}}\""},
    {"'2.50'|float * 2", "expected \"format(\", found \"float * 2}}\""},
    {"' -007.25e1 '|float", "expected \"format(\", found \"float}}\""},
    {"'1E+3'|float", "expected \"format(\", found \"float}}\""},
    {"'x'|float(1.5)", "expected \"format(\", found \"float(1.5)}}\""},
    {"( -2.5)|abs", "expected a decimal integer, found \"2.5)|abs}}\""},
    {"( -2)|abs + 2|abs", "expected \"format(\", found \"abs + 2|abs}}\""},
    {"s|length", "expected \"format(\", found \"length}}\""},
    {"i|string|length", "expected \"format(\", found \"string|length}}\""},
    {"s.zfill(6)", "expected \"format(\", found \"zfill(6)}}\""},
    {"'-5'.zfill(4)", "expected \"format(\", found \"zfill(4)}}\""},
    {"(i|string).zfill(3)", "expected \"format(\", found \"string).zfill(3)}}\""},
    {"+true", "expected a space before a sign, found \"+true}}\""},
    {" +true", "\"true\" is not defined"},
    {"'abc'.zfill(2)", "expected \"format(\", found \"zfill(2)}}\""},
    {"0x1f", "expected a decimal integer, found \"0x1f}}\""},
    {"0b1_01 + 0o17", "expected a decimal integer, found \"0b1_01 + 0o17}}\""},
    {"1_000", "expected a decimal integer, found \"1_000}}\""},
    {"1_0.2_5", "expected a decimal integer, found \"1_0.2_5}}\""},
    {"'a' 'b' \"c\"", "expected one of + - * // % ** ~ or \"}}\", found \"'b' \"c\"}}\""},
    {"s[0]", "expected one of + - * // % ** ~ or \"}}\", found \"[0]}}\""},
    {"s[-1]", "expected one of + - * // % ** ~ or \"}}\", found \"[-1]}}\""},
    {"s[1:3]", "expected one of + - * // % ** ~ or \"}}\", found \"[1:3]}}\""},
    {"s[:2]", "expected one of + - * // % ** ~ or \"}}\", found \"[:2]}}\""},
    {"s[::-1]", "expected one of + - * // % ** ~ or \"}}\", found \"[::-1]}}\""},
    {"s[-9:2]", "expected one of + - * // % ** ~ or \"}}\", found \"[-9:2]}}\""},
    {"'20200102'[:4] ~ '/' ~ '20200102'[4:6]",
     "expected one of + - * // % ** ~ or \"}}\", found \"[:4] ~ '/' ~ '202001\""},
    {"[1, 2, 3][1]", "expected a name, an integer, a string or \"(\", found \"[1, 2, 3][1]}}\""},
    {"(4, 5)[-1]", "expected one value in parentheses, found \"(4, 5)[-1]}}\""},
    {"[1, 2, 3][1:]|join('-')",
     "expected a name, an integer, a string or \"(\", found \"[1, 2, 3][1:]|join('\""},
    {"{'a': 1, 'b': i}['b']",
     "expected a name, an integer, a string or \"(\", found \"{'a': 1, 'b': i}['b'\""},
    {"{7: 'seven'}[i]",
     "expected a name, an integer, a string or \"(\", found \"{7: 'seven'}[i]}}\""},
    {"[1, 2] == [1, 2]",
     "expected a name, an integer, a string or \"(\", found \"[1, 2] == [1, 2]}}\""},
    {"(1, 2) == [1, 2]", "expected one value in parentheses, found \"(1, 2) == [1, 2]}}\""},
    {"1 in (1, 2)", "expected one of + - * // % ** ~ or \"}}\", found \"in (1, 2)}}\""},
    {"7 not in [i]", "expected one of + - * // % ** ~ or \"}}\", found \"not in [i]}}\""},
    {"'ex' in s", "expected one of + - * // % ** ~ or \"}}\", found \"in s}}\""},
    {"'a' in {'a': 1}", "expected one of + - * // % ** ~ or \"}}\", found \"in {'a': 1}}}\""},
    {"1 < 2 in [2]", "expected one of + - * // % ** ~ or \"}}\", found \"< 2 in [2]}}\""},
    {"i is defined", "expected one of + - * // % ** ~ or \"}}\", found \"is defined}}\""},
    {"nope is not defined",
     "expected one of + - * // % ** ~ or \"}}\", found \"is not defined}}\""},
    {"nope is undefined", "expected one of + - * // % ** ~ or \"}}\", found \"is undefined}}\""},
    {"i is number and s is string",
     "expected one of + - * // % ** ~ or \"}}\", found \"is number and s is s\""},
    {"i is odd", "expected one of + - * // % ** ~ or \"}}\", found \"is odd}}\""},
    {"i is divisibleby 7",
     "expected one of + - * // % ** ~ or \"}}\", found \"is divisibleby 7}}\""},
    {"i is divisibleby(2)",
     "expected one of + - * // % ** ~ or \"}}\", found \"is divisibleby(2)}}\""},
    {"i is not even", "expected one of + - * // % ** ~ or \"}}\", found \"is not even}}\""},
    {"i is eq 7", "expected one of + - * // % ** ~ or \"}}\", found \"is eq 7}}\""},
    {"none is none", "expected one of + - * // % ** ~ or \"}}\", found \"is none}}\""},
    {"'a' if i is gt 3 else 'b'",
     "expected one of + - * // % ** ~ or \"}}\", found \"if i is gt 3 else 'b\""},
    {"nope|default('x')", "expected \"format(\", found \"default('x')}}\""},
    {"e|default('x')", "expected \"format(\", found \"default('x')}}\""},
    {"e|default('x', true)", "expected \"format(\", found \"default('x', true)}}\""},
    {"s[9]|d('x')", "expected one of + - * // % ** ~ or \"}}\", found \"[9]|d('x')}}\""},
    {"s|upper", "expected \"format(\", found \"upper}}\""},
    {"'ABC'|lower", "expected \"format(\", found \"lower}}\""},
    {"'hello world-foo'|title", "expected \"format(\", found \"title}}\""},
    {"'hELLO wORLD'|capitalize", "expected \"format(\", found \"capitalize}}\""},
    {"' x '|trim", "expected \"format(\", found \"trim}}\""},
    {"'a-b-c'|replace('-', '/')", "expected \"format(\", found \"replace('-', '/')}}\""},
    {"'a-b-c'|replace('-', '/', 1)", "expected \"format(\", found \"replace('-', '/', 1)\""},
    {"2.675|round(2)", "expected a decimal integer, found \"2.675|round(2)}}\""},
    {"2.5|round", "expected a decimal integer, found \"2.5|round}}\""},
    {"2.1|round(0, 'ceil')", "expected a decimal integer, found \"2.1|round(0, 'ceil')\""},
    {"7|round", "expected \"format(\", found \"round}}\""},
    {"[1, 'a', 2.5]|join",
     "expected a name, an integer, a string or \"(\", found \"[1, 'a', 2.5]|join}}\""},
    {"[3, 1, 2]|max", "expected a name, an integer, a string or \"(\", found \"[3, 1, 2]|max}}\""},
    {"[3, 1, 2]|sum", "expected a name, an integer, a string or \"(\", found \"[3, 1, 2]|sum}}\""},
    {"[]|length", "expected a name, an integer, a string or \"(\", found \"[]|length}}\""},
    {"s|first ~ s|last", "expected \"format(\", found \"first ~ s|last}}\""},
    {"s|reverse", "expected \"format(\", found \"reverse}}\""},
    {"'a b/ü&'|urlencode", "expected \"format(\", found \"urlencode}}\""},
    {"'x'|int(3)", "expected \"format(\", found \"int(3)}}\""},
    {"s.upper()", "expected \"format(\", found \"upper()}}\""},
    {"'a,b'.split(',')[1]", "expected \"format(\", found \"split(',')[1]}}\""},
    {"' a  b '.split()|join('+')", "expected \"format(\", found \"split()|join('+')}}\""},
    {"'-'.join(['a', 'b'])", "expected \"format(\", found \"join(['a', 'b'])}}\""},
    {"s.startswith('te')", "expected \"format(\", found \"startswith('te')}}\""},
    {"s.endswith('te')", "expected \"format(\", found \"endswith('te')}}\""},
    {"s.find('x')", "expected \"format(\", found \"find('x')}}\""},
    {"'7'.rjust(3, '0')", "expected \"format(\", found \"rjust(3, '0')}}\""},
    {"'7'.center(4, '*')", "expected \"format(\", found \"center(4, '*')}}\""},
    {"'xxaxx'.strip('x')", "expected \"format(\", found \"strip('x')}}\""},
    {"'a.b'.replace('.', '_')", "expected \"format(\", found \"replace('.', '_')}}\""},
    {"'%d' % 3.9", "expected a decimal integer, found \"3.9}}\""},
    {"'%.3d' % i", "format \"%.3d\": expected a width and d, o, x, X or s, found \".\""},
    {"'%x %X %#x %o' % (255, 255, 255, 8)",
     "format \"%x %X %#x %o\": expected a width and d, o, x, X or s, found \"#\""},
    {"'%06.2f' % f", "format \"%06.2f\": expected a width and d, o, x, X or s, found \".\""},
    {"'%f' % 1", "format \"%f\": expected a width and d, o, x, X or s, found \"f\""},
    {"'%e' % 12345.678", "expected a decimal integer, found \"12345.678}}\""},
    {"'%5s|%-5s|%.2s' % ('ab', 'ab', 'abc')",
     "format \"%5s|%-5s|%.2s\": expected a width and d, o, x, X or s, found \".\""},
    {"'%i' % true", "\"true\" is not defined"},
    {"'{:+d} {:x} {:#X}'.format(i, 255, 255)",
     "format \"{:+d} {:x} {:#X}\": expected a width and d, o, x, X or s, found \"#\""},
    {"'{:.2f} {:08.3f} {:e}'.format(f, f, f)",
     "format \"{:.2f} {:08.3f} {:e}\": expected a width and d, o, x, X or s, found \".\""},
    {"'{:8.1f}|{:<8.1f}|'.format(f, f)",
     "format \"{:8.1f}|{:<8.1f}|\": expected a width and d, o, x, X or s, found \".\""},
    {"'{} {}'.format(f, 1.0)", "expected a decimal integer, found \"1.0)}}\""},
    {"'{:.2}'.format('abc')",
     "format \"{:.2}\": expected a width and d, o, x, X or s, found \".\""},
    {"'{}'.format(true)", "\"true\" is not defined"},
};

const Case kFailures[] = {
    // names
    {"j", "\"j\" is not defined"},
    {"range(3)", "\"range\" is not defined"},
    {"s()", "expected \"s\" without arguments, found a call"},
    {"i.zfill(2)", "expected \"format(\", found \"zfill(2)}}\""},
    // what is left out of jinja2
    {"s.swapcase()", "expected \"format(\", found \"swapcase()}}\""},
    {"s|wordcount", "expected \"format(\", found \"wordcount}}\""},
    {"i is callable", "expected one of + - * // % ** ~ or \"}}\", found \"is callable}}\""},
    {"'é'|upper", "expected \"format(\", found \"upper}}\""},
    {"s.x", "expected \"format(\", found \"x}}\""},
    {"s[9]", "expected one of + - * // % ** ~ or \"}}\", found \"[9]}}\""},
    {"s[1", "expected one of + - * // % ** ~ or \"}}\", found \"[1}}\""},
    {"s[::0]", "expected one of + - * // % ** ~ or \"}}\", found \"[::0]}}\""},
    {"i[0]", "expected one of + - * // % ** ~ or \"}}\", found \"[0]}}\""},
    {"[1, 2]", "expected a name, an integer, a string or \"(\", found \"[1, 2]}}\""},
    {"{'a': 1}", "expected a name, an integer, a string or \"(\", found \"{'a': 1}}}\""},
    {"{'a'}", "expected a name, an integer, a string or \"(\", found \"{'a'}}}\""},
    {"{'a': 1}['b']", "expected a name, an integer, a string or \"(\", found \"{'a': 1}['b']}}\""},
    {"1 in 2", "expected one of + - * // % ** ~ or \"}}\", found \"in 2}}\""},
    {"i is", "expected one of + - * // % ** ~ or \"}}\", found \"is}}\""},
    {"nope is odd", "expected one of + - * // % ** ~ or \"}}\", found \"is odd}}\""},
    {"s|replace('', 'x')", "expected \"format(\", found \"replace('', 'x')}}\""},
    {"s|upper(1)", "expected \"format(\", found \"upper(1)}}\""},
    {"0x", "expected a decimal integer, found \"0x}}\""},
    {"1__0", "expected a decimal integer, found \"1__0}}\""},
    {"'\\x4'", "expected the quote that ends the string, found \"\\x4'}}\""},
    {"''.__class__.__mro__", "expected \"format(\", found \"__class__.__mro__}}\""},
    // syntax
    {"", "expected a name, an integer, a string or \"(\", found \"}}\""},
    {"1 +", "expected a name, an integer, a string or \"(\", found \"}}\""},
    {"1 2", "expected one of + - * // % ** ~ or \"}}\", found \"2}}\""},
    {"(1", "expected \",\" or \")\", found \"}}\""},
    {"1)", "expected one of + - * // % ** ~ or \"}}\", found \")}}\""},
    {"'a", "expected the quote that ends the string, found the end of the text"},
    {"1 if", "expected one of + - * // % ** ~ or \"}}\", found \"if}}\""},
    {"s|", "expected \"format(\", found \"}}\""},
    {"(a=1)", "expected \",\" or \")\", found \"=1)}}\""},
    {"1 } }", "expected one of + - * // % ** ~ or \"}}\", found \"} }}}\""},
    // kinds
    {"1 + 'a'", "\"+\": expected integers, found a string"},
    {"'a' - 'b'", "\"-\": expected integers, found a string"},
    {"none * 2", "\"none\" is not defined"},
    {"2 ** 'a'", "\"**\": expected integers, found a string"},
    {"1 < 'a'", "expected one of + - * // % ** ~ or \"}}\", found \"< 'a'}}\""},
    {" -s", "\"-\": expected integers, found a string"},
    {"(1, 2)", "expected one value in parentheses, found \"(1, 2)}}\""},
    {"'a'|int", "expected \"format(\", found \"int}}\""},
    {"'1.5'|int", "expected \"format(\", found \"int}}\""},
    {"none|int", "expected \"format(\", found \"int}}\""},
    {"'a'|float", "expected \"format(\", found \"float}}\""},
    {"''|float", "expected \"format(\", found \"float}}\""},
    {"'1.'|float", "expected \"format(\", found \"float}}\""},
    {"'1e'|float", "expected \"format(\", found \"float}}\""},
    {"'1.5x'|float", "expected \"format(\", found \"float}}\""},
    {"'--1'|float", "expected \"format(\", found \"float}}\""},
    {"none|float", "expected \"format(\", found \"float}}\""},
    {"s|abs", "expected \"format(\", found \"abs}}\""},
    {"i|length", "expected \"format(\", found \"length}}\""},
    {"s|length(1)", "expected \"format(\", found \"length(1)}}\""},
    // numbers
    {"1/0", "expected one of + - * // % ** ~ or \"}}\", found \"/0}}\""},
    {"1//0", "division by zero"},
    {"1%0", "division by zero"},
    {"1.0//0", "expected a decimal integer, found \"1.0//0}}\""},
    {"0**-1", "expected an exponent of at least 0, found -1"},
    {"(-1)**0.5", "expected a decimal integer, found \"0.5}}\""},
    {"9223372036854775807 + 1", "expected an integer of 64 bits, found more"},
    {" -9223372036854775807 - 2", "expected an integer of 64 bits, found more"},
    {"big * big", "expected an integer of 64 bits, found more"},
    {"2 ** 63", "expected an integer of 64 bits, found more"},
    {"(0 - 9223372036854775807 - 1) // -1", "expected an integer of 64 bits, found more"},
    {"(0 - 9223372036854775807 - 1)|abs", "expected \"format(\", found \"abs}}\""},
    {"9223372036854775808", "expected an integer of 64 bits, found more"},
    {"1e300|int", "expected a decimal integer, found \"1e300|int}}\""},
    // formats
    {"'%d' % 'a'", "format \"%d\": expected an integer, found a string"},
    {"'%x' % 1.5", "expected a decimal integer, found \"1.5}}\""},
    {"'%d %d' % 1", "format \"%d %d\": expected at least 2 values"},
    {"'%d' % (1, 2)", "format \"%d\": expected 1 values, found 2"},
    {"'%r' % 1", "format \"%r\": expected a width and d, o, x, X or s, found \"r\""},
    {"'%' % 1", "format \"%\": expected a width and d, o, x, X or s, found \"\""},
    {"'%99999d' % 1", "expected a width of at most 1000, found more"},
    {"'%.101f' % 1", "format \"%.101f\": expected a width and d, o, x, X or s, found \".\""},
    {"'%(a)s'|format(a=1)", "format \"%(a)s\": expected a width and d, o, x, X or s, found \"(\""},
    {"'{'.format(1)", "format \"{\": expected \"}\", found \"\""},
    {"'}'.format(1)", "format \"}\": expected \"}}\", found \"\""},
    {"'{0.real}'.format(1)", "format \"{0.real}\": expected a value for field \"0.real\""},
    {"'{!r}'.format(1)", "format \"{!r}\": expected a value for field \"!r\""},
    {"'{1}'.format(1)", "format \"{1}\": expected a value for field \"1\""},
    {"'{}{}'.format(1)", "format \"{}{}\": expected at least 2 values"},
    {"'{}'.format(a=1)", "format \"{}\": expected at least 1 values"},
    {"'{}{}'.format(1, a=1)", "format \"{}{}\": expected at least 2 values"},
    {"'{:d}'.format(1.0)", "expected a decimal integer, found \"1.0)}}\""},
    {"'{:.2d}'.format(1)", "format \"{:.2d}\": expected a width and d, o, x, X or s, found \".\""},
    {"'{:.2}'.format(1.5)", "expected a decimal integer, found \"1.5)}}\""},
    {"'{:.2}'.format(1)", "format \"{:.2}\": expected a width and d, o, x, X or s, found \".\""},
    {"'{:04}'.format(s)", "format \"{:04}\": expected an integer, found a string"},
    {"'{:5}'.format(true)", "\"true\" is not defined"},
    {"'{:>5}'.format(none)", "\"none\" is not defined"},
    {"10.0 ** 400", "expected a decimal integer, found \"10.0 ** 400}}\""},
    {"'{:,}'.format(1)", "format \"{:,}\": expected a width and d, o, x, X or s, found \",\""},
    // limits
    {"'aaaaaaaaaaaaaaaa' * 1000000000", "\"*\": expected integers, found a string"},
    {"'a' * 9223372036854775807", "\"*\": expected integers, found a string"},
    {"'ab' * 9223372036854775807", "\"*\": expected integers, found a string"},
    {"'abc' * 9223372036854775807", "\"*\": expected integers, found a string"},
    {"'a' * 4294967297", "\"*\": expected integers, found a string"},
    {"s.zfill(9223372036854775807)", "expected \"format(\", found \"zfill(92233720368547\""},
    {"s.zfill(4294967297)", "expected \"format(\", found \"zfill(4294967297)}}\""},
    {"(((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))",
     "expected at most 32 nested parentheses, found more"},
    {" ---------------------------------1", "expected at most 32 signs, found more"},
    {"not not not not not not not not not not not not not not not not not not not not not not not "
     "not not not not not not not not not not 1",
     "expected one of + - * // % ** ~ or \"}}\", found \"not not not not not \""},
};

void ExpectFailure(const Case &c) {
    const Rendered rendered(c.expression);
    EXPECT_NE(rendered.status, REFS_OK) << c.expression;
    EXPECT_NE(rendered.Result().find(c.result), std::string::npos) << c.expression << "\n"
                                                                   << rendered.Result();
    const std::string quoted = std::string("gen[0]: template \"x{{") + c.expression;
    EXPECT_NE(rendered.Result().find(quoted), std::string::npos) << rendered.Result();
}

} // namespace

TEST(RefsetExpression, GivesWhatJinja2Gives) {
    for (const Case &c : kResults) {
        const Rendered rendered(c.expression);
        EXPECT_EQ(rendered.Result(), c.result) << c.expression;
    }
}

TEST(RefsetExpression, RefusesWhatSetsDoNotUse) {
    for (const Case &c : kRefused) ExpectFailure(c);
}

TEST(RefsetExpression, FailsWithAReasonThatQuotesIt) {
    for (const Case &c : kFailures) ExpectFailure(c);
}

TEST(RefsetExpression, TakesAnyWordForAName) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"if": "s3://b/i", "not": "s3://b/n"},
                           "refs": {"a": ["{{if}}"], "b": ["{{ not }}/x"]}})"),
              REFS_OK);
    EXPECT_EQ(set.At("a"), "[s3://b/i]");
    EXPECT_EQ(set.At("b"), "[s3://b/n/x]");
}

TEST(RefsetExpression, RefusesNulsBehindBackslashes) {
    const Rendered rendered(std::string("'\\\0'", 4));
    EXPECT_EQ(rendered.status, REFS_UNSUPPORTED);
}

TEST(RefsetExpression, RefusesSignsOfJinja2BehindBraces) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"u": "x"},
                           "refs": {"a": ["s3://b/ {{- u }} /c"], "b": ["{{ u -}} d\n"],
                                    "c": ["{{u}} d\n"]}})"),
              REFS_OK);
    EXPECT_EQ(set.At("a"), "not supported: template \"s3://b/ {{- u }} /c\": expected a space "
                           "before a sign, found \"- u }} /c\" at character 11");
    EXPECT_NE(set.At("b").find("found \"}} d\" at character 7"), std::string::npos);
    EXPECT_EQ(set.At("c"), "[x d]");
}

TEST(RefsetExpression, IsLimitedInSize) {
    std::string sum = "1", call = "f(";
    for (int i = 0; i < 300; i++) sum += "+1";
    for (int i = 0; i < 33; i++) call += "a=1,";
    const Rendered operations(sum), arguments(call);
    EXPECT_EQ(operations.status, REFS_LIMIT);
    EXPECT_NE(operations.Result().find("expected at most 500 operations, found more"),
              std::string::npos);
    EXPECT_EQ(arguments.status, REFS_LIMIT);
    EXPECT_NE(arguments.Result().find("expected at most 32 arguments, found more"),
              std::string::npos);
}

TEST(RefsetExpression, IsLimitedInWhatItMakes) {
    SetUnderTest set;
    std::string many = "u";
    for (int i = 0; i < 16; i++) many += "~u";
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"u": ")" + std::string(65536, 'x') +
                       R"("}, "refs": {"a": ["{{u}}"], "b": ["{{u}}y"], "c": ["{{)" + many +
                       R"(}}"]}})"),
              REFS_OK);
    EXPECT_EQ(set.At("a").size(), 65538u);
    EXPECT_NE(set.At("b").find("it renders to more than 65536 bytes"), std::string::npos);
    EXPECT_NE(set.At("c").find("expected an expression that needs at most 1048576 bytes"),
              std::string::npos)
        << set.At("c");
}

TEST(RefsetExpression, CannotCallOthersForever) {
    SetUnderTest set;
    const std::string twice = R"("{{a(a=b,b=c,c=d,d=e,e=e)}}{{a(a=b,b=c,c=d,d=e,e=e)}}")";
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"t": )" + twice +
                       R"(}, "refs": {"a": ["{{t(a=t,b=t,c=t,d=t,e=t)}}"]}})"),
              REFS_OK);
    EXPECT_EQ(set.At("a").substr(0, 14), "over a limit: ");
}
