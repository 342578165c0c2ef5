package config

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports"
)

// Secrets returns every credential with the name under which reports show it: the environment variable that holds
// it. Reports, logs and terminals never see the values.
func (c *Config) Secrets() map[string]string {
	secrets := map[string]string{}
	named := func(name, value string) {
		if _, known := secrets[value]; value != "" && !known { // the first name stays
			secrets[value] = name
		}
	}
	add := func(key string, values ...string) {
		for _, value := range values {
			named("$"+Variable(key), value)
		}
	}
	c.eachSecret(func(key, value string) {
		add(key, value)
		if headerOf(key) != "" { // the suite also sends what is after the scheme with another scheme
			_, rest, _ := strings.Cut(value, " ")
			_, password, _ := strings.Cut(decoded(value), ":")
			add(key, rest, decoded(value), password)
		}
	})
	c.eachSecret(func(key, value string) { // a near miss reveals the right credential
		for _, m := range []Mistake{OneMore, OtherCase, OneLess, OtherEnd} {
			if wrong, name := m.shown(key, value); !strings.HasSuffix(value, wrong) {
				named(name, wrong)
			}
		}
	})
	add("proxy", ProxySecrets(c.Proxy)...)
	eachString(reflect.ValueOf(c).Elem(), func(key, text string) {
		for _, found := range inURL.FindAllStringSubmatch(text, -1) {
			if info := found[1]; key != "proxy" {
				add(key+".userinfo", append(userInfo(info), "//"+info+"@")...)
			}
		}
	})
	for _, secret := range c.templateSecrets() {
		named("$"+secret.variable, secret.value)
	}
	common := c.Common()
	for _, value := range slices.Sorted(maps.Keys(secrets)) {
		for _, inner := range stringsInJSON(value) {
			if !slices.Contains(common, inner) {
				named(secrets[value], inner)
			}
		}
	}
	return secrets
}

// Environment holds every secret in the variable under whose name reports show it ("NAME=value"), as the curl lines and
// scripts of findings need it.
func (c *Config) Environment() []string {
	values := map[string]string{}
	for secret, shown := range c.Secrets() {
		name := strings.Trim(shown, "${}")
		isName := !strings.ContainsAny(name, "}~%") && !strings.HasPrefix(secret, "//")
		if isName && len(secret) > len(values[name]) { // parts of a secret have its name too
			values[name] = secret
		}
	}
	all := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, name+"="+values[name])
	}
	return all
}

// SafeSecret is the length in bytes from which on a secret is looked for everywhere, in all spellings.
const SafeSecret = 12

// ShortSecrets says which secrets are too short to be looked for everywhere, "" where none is.
func (c *Config) ShortSecrets() string {
	found, common := map[string]bool{}, c.Common()
	for secret, name := range c.Secrets() {
		isWhole := !strings.HasPrefix(secret, "//") && !strings.HasPrefix(name, "${")
		if isWhole && (len(secret) < SafeSecret || slices.Contains(common, secret)) {
			found[name] = true
		}
	}
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: fewer than %d characters, or a common word: replaced only where the suite sends it, not "+
		"where the target repeats it; use a longer secret", strings.Join(slices.Sorted(maps.Keys(found)), ", "), SafeSecret)
}

// Common are texts that the configuration also holds where they are no secrets: replaced wherever they stand they would
// spoil every report.
func (c *Config) Common() []string {
	all := []string{c.AssistantID, c.Implementation.Name, c.Edition, c.Source(), c.AgentURLFrom,
		reports.HostPort(c.Target), reports.HostPort(c.AgentTarget)}
	for _, u := range c.Users {
		all = append(all, u.Name, u.Identity)
		eachString(reflect.ValueOf(u.Fields), func(_, s string) { all = append(all, s) })
	}
	for name, own := range c.Vocabulary {
		all = append(all, name, own)
	}
	return slices.Concat(all, slices.Collect(maps.Keys(c.Create.Body)), c.Supports)
}

// ProxySecrets are the parts of a proxy's URL that nobody may see. As in HTTP_PROXY the scheme may be missing, and what
// is no URL may hold a password all the same.
func ProxySecrets(address string) []string {
	_, rest, is := strings.Cut(address, "://")
	if !is {
		rest = address
	}
	at := strings.LastIndexByte(rest, '@')
	if at <= 0 {
		return nil
	}
	return append(userInfo(rest[:at]), address)
}

// userInfo are the secrets in the user info of a URL, as they are written and unescaped: the password, or a name
// without one, which is a token; and the whole.
func userInfo(info string) (all []string) {
	_, password, both := strings.Cut(info, ":")
	if !both {
		password = info
	}
	for _, secret := range []string{password, info} {
		all = append(all, secret)
		if plain, err := url.PathUnescape(secret); err == nil && plain != secret {
			all = append(all, plain)
		}
	}
	return all
}

// inURL finds the user info of a URL in a text, as it is written.
var inURL = regexp.MustCompile(`://([^/?# \t\r\n"'<>\\]+)@`)

// longestJSON bounds a text in which strings are looked for, in bytes.
const longestJSON = 64 << 10

// stringsInJSON are the long strings in a text that is an object or a list in JSON, such as the key file of a service
// account.
func stringsInJSON(text string) (all []string) {
	var value any
	text = strings.TrimSpace(text)
	structured := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	if !structured || len(text) > longestJSON || json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	eachString(reflect.ValueOf(value), func(_, s string) {
		if len(s) >= SafeSecret {
			all = append(all, s)
		}
	})
	return all
}

// templateSecret is a secret that a create body hands to the deployment ({name, value}), with its variable, such as
// AGENTCONFORM_CREATE_BODY_SECRETS_NAME, and the key of its value.
type templateSecret struct{ variable, key, value string }

func (c *Config) templateSecrets() (all []templateSecret) {
	add := func(group string, body map[string]any) {
		list, _ := body["secrets"].([]any)
		for i, item := range list {
			secret, isObject := item.(map[string]any)
			name, _ := secret["name"].(string)
			value, _ := secret["value"].(string)
			if isObject {
				key := fmt.Sprintf("%s.%d.value", group, i)
				all = append(all, templateSecret{Variable(group + "." + name), key, value})
			}
		}
	}
	add("create.body.secrets", c.Create.Body)
	add("create.refused.secrets", c.Create.Refused) // both may have the same: the first name stays
	return all
}

// Mistake is a way to get a credential almost right, for requests that a target must refuse: one that compares only a
// part of a credential, or ignores its case, accepts them.
type Mistake struct {
	made  func(secret string) string
	shell string // follows the variable of the right credential, where a shell is to write the wrong one
	own   string // ends the name of a variable that holds the wrong one, where it is inside base64
}

// The mistakes.
var (
	OneMore   = Mistake{func(secret string) string { return secret + "x" }, "}x", "_AND_MORE"}
	OtherCase = Mistake{withOtherCase, "~~}", "_IN_OTHER_CASE"}
	OneLess   = Mistake{withoutLast, "%?}", "_AND_LESS"}
	OtherEnd  = Mistake{withOtherEnd, "%?}", "_CHANGED"}
)

// In returns the credential with the mistake; the same where it changes nothing.
func (m Mistake) In(secret string) string {
	if secret == "" {
		return secret
	}
	return m.made(secret)
}

// withOtherCase has the small letters as capitals, and the other way round. What may be a number in hexadecimal, such
// as a uuid, is the same in either case.
func withOtherCase(secret string) string {
	if strings.Trim(secret, "0123456789abcdefABCDEF-{}") == "" {
		return secret
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, secret)
}

// withoutLast is the secret without its last character. One of a single character stays, and so does one that ends with
// "=": what fills up base64 means nothing.
func withoutLast(secret string) string {
	if _, size := utf8.DecodeLastRuneInString(secret); size < len(secret) && !strings.HasSuffix(secret, "=") {
		return secret[:len(secret)-size]
	}
	return secret
}

// withOtherEnd changes the last character, before what fills up base64. Of a character that may stand for some bits the
// first bit is turned: the last ones may mean nothing, as at the end of a signed token.
func withOtherEnd(secret string) string {
	const hexadecimal = "0123456789abcdef"
	const base64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	body := strings.TrimRight(secret, "=")
	start := withoutLast(body)
	if start == body {
		return secret
	}
	last, other := body[len(start):], "A"
	if i := strings.Index(hexadecimal, last); i >= 0 {
		other = hexadecimal[i^8:][:1]
	} else if i := strings.Index(base64URL, last); i >= 0 {
		other = base64URL[i^32:][:1]
	}
	return start + other + secret[len(body):]
}

// inHeader makes the mistake in the value of a header after its scheme; with Basic, only in the password, which is
// encoded.
func (m Mistake) inHeader(value string) (wrong string, encoded bool) {
	scheme, secret, both := strings.Cut(value, " ")
	if !both {
		return m.In(value), false
	}
	if name, password, isPair := strings.Cut(decoded(value), ":"); isPair {
		return scheme + " " + base64.StdEncoding.EncodeToString([]byte(name+":"+m.In(password))), true
	}
	return scheme + " " + m.In(secret), false
}

// decoded are the credentials in the value of a header with the scheme Basic, "" where it has another one.
func decoded(value string) string {
	scheme, secret, _ := strings.Cut(value, " ")
	pair, err := base64.StdEncoding.DecodeString(secret)
	if err != nil || !strings.EqualFold(scheme, "basic") {
		return ""
	}
	return string(pair)
}

// NearMiss returns the header with which the user would ask, had each secret in it this mistake; nil where it changes
// nothing.
func (u User) NearMiss(m Mistake) http.Header {
	right, wrong := u.Header(), http.Header{}
	for name := range right {
		value := right.Get(name)
		if !isPublic("users.0.headers."+name, value) {
			value, _ = m.inHeader(value)
		}
		wrong.Set(name, value)
	}
	if reflect.DeepEqual(wrong, right) {
		return nil
	}
	return wrong
}

// shown is what must not be shown of a credential with the mistake, all of it or what it has of the right one, and how
// a shell writes that with the variable of the right one; a value inside base64 has a variable of its own.
func (m Mistake) shown(key, value string) (wrong, name string) {
	if !inside(key, "credentials") && !inside(key, "users") {
		return "", ""
	}
	wrong, encoded := m.In(value), false
	if headerOf(key) != "" {
		wrong, encoded = m.inHeader(value)
		if _, behind, both := strings.Cut(wrong, " "); both {
			wrong = behind
		}
	}
	if encoded {
		return wrong, "${" + Variable(key) + m.own + "}"
	}
	if m.own == OtherEnd.own { // the rest, which is also what has one character less
		wrong = withoutLast(strings.TrimRight(wrong, "="))
	}
	return wrong, "${" + Variable(key) + m.shell
}
