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

// Secrets returns every credential with the name that replaces it in reports: its environment variable.
func (c *Config) Secrets() map[string]string {
	secrets := map[string]string{}
	named := func(name, value string) {
		_, isKnown := secrets[value]
		if value != "" && !isKnown { // the first name wins
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
		if headerOf(key) != "" { // the suite also sends the credential with a different scheme
			_, rest, _ := strings.Cut(value, " ")
			_, password, _ := strings.Cut(decoded(value), ":")
			add(key, rest, decoded(value), password)
		}
	})
	c.eachSecret(func(key, value string) { // a credential with a small mistake reveals the valid one
		for _, m := range []Mistake{OneMore, OtherCase, OneLess, OtherEnd} {
			wrong, name := m.shown(key, value)
			if !strings.HasSuffix(value, wrong) {
				named(name, wrong)
			}
		}
	})
	add("proxy", ProxySecrets(c.Proxy)...)
	eachString(reflect.ValueOf(c).Elem(), func(key, text string) {
		for _, found := range inURL.FindAllStringSubmatch(text, -1) {
			info := found[1]
			if key != "proxy" {
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

// Environment returns every secret as a variable ("NAME=value"), with the name that reports show. The curl lines and
// scripts of findings use these variables.
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

// SafeSecret is the minimum length in bytes of a secret that is redacted everywhere, in all spellings.
const SafeSecret = 12

// ShortSecrets describes the secrets that are not redacted everywhere, or returns "" if there are none.
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
	return fmt.Sprintf("%s: fewer than %d characters, or a common word: redacted in requests, but not in responses; "+
		"use a longer secret", strings.Join(slices.Sorted(maps.Keys(found)), ", "), SafeSecret)
}

// Common returns texts that are also values of other keys. Redacting them everywhere would make reports unreadable.
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

// ProxySecrets returns the secret parts of the URL of a proxy. The scheme may be missing, as in HTTP_PROXY, and a text
// that is not a valid URL may still contain a password.
func ProxySecrets(address string) []string {
	_, rest, hasScheme := strings.Cut(address, "://")
	if !hasScheme {
		rest = address
	}
	at := strings.LastIndexByte(rest, '@')
	if at <= 0 {
		return nil
	}
	return append(userInfo(rest[:at]), address)
}

// userInfo returns the secrets in the user info of a URL, as written and unescaped. These are the whole user info and the
// password. If there is no password, the name is a token and counts as the secret.
func userInfo(info string) (all []string) {
	_, password, both := strings.Cut(info, ":")
	if !both {
		password = info
	}
	for _, secret := range []string{password, info} {
		all = append(all, secret)
		plain, err := url.PathUnescape(secret)
		if err == nil && plain != secret {
			all = append(all, plain)
		}
	}
	return all
}

// inURL finds the user info of a URL in a text, as written.
var inURL = regexp.MustCompile(`://([^/?# \t\r\n"'<>\\]+)@`)

// longestJSON is the maximum length in bytes of a text that stringsInJSON parses.
const longestJSON = 64 << 10

// stringsInJSON returns the long strings in a text that is a JSON object or array, such as a service account key file.
func stringsInJSON(text string) (all []string) {
	var value any
	text = strings.TrimSpace(text)
	isStructured := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	if !isStructured || len(text) > longestJSON || json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	eachString(reflect.ValueOf(value), func(_, s string) {
		if len(s) >= SafeSecret {
			all = append(all, s)
		}
	})
	return all
}

// templateSecret is a secret of a deployment in a create body ({name, value}), with its variable, such as
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
	add("create.refused.secrets", c.Create.Refused) // if both have the same secret, the first name wins
	return all
}

// Mistake is a small change of a credential. A target must refuse the changed credential. A target that compares only a
// part of a credential, or ignores its case, accepts it.
type Mistake struct {
	made  func(secret string) string
	shell string // suffix for the variable of the valid credential: it makes a shell write the changed one
	own   string // suffix for the name of another variable, with the changed credential; used inside base64
}

// The mistakes: one more character, inverted case, one character less, and a different last character.
var (
	OneMore   = Mistake{func(secret string) string { return secret + "x" }, "}x", "_AND_MORE"}
	OtherCase = Mistake{withOtherCase, "~~}", "_IN_OTHER_CASE"}
	OneLess   = Mistake{withoutLast, "%?}", "_AND_LESS"}
	OtherEnd  = Mistake{withOtherEnd, "%?}", "_CHANGED"}
)

// In returns the changed credential. It returns the original if the mistake changes nothing.
func (m Mistake) In(secret string) string {
	if secret == "" {
		return secret
	}
	return m.made(secret)
}

// withOtherCase swaps upper and lower case. It does not change hexadecimal numbers such as a UUID, because their case has
// no meaning.
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

// withoutLast removes the last character. It does not change a secret of one character, or a secret that ends with "=",
// because the padding of base64 has no meaning.
func withoutLast(secret string) string {
	_, size := utf8.DecodeLastRuneInString(secret)
	if size == len(secret) || strings.HasSuffix(secret, "=") {
		return secret
	}
	return secret[:len(secret)-size]
}

// withOtherEnd changes the last character before the padding of base64. In hexadecimal and base64 it flips the first bit
// of the character, because the last bits of a signed token may have no meaning.
func withOtherEnd(secret string) string {
	const hexadecimal = "0123456789abcdef"
	const base64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	body := strings.TrimRight(secret, "=")
	start := withoutLast(body)
	if start == body {
		return secret
	}
	last := body[len(start):]
	other := "A"
	inHexadecimal := strings.Index(hexadecimal, last)
	inBase64 := strings.Index(base64URL, last)
	switch {
	case inHexadecimal >= 0:
		other = hexadecimal[inHexadecimal^8:][:1]
	case inBase64 >= 0:
		other = base64URL[inBase64^32:][:1]
	}
	return start + other + secret[len(body):]
}

// inHeader applies the mistake to the value of a header after its scheme. With the scheme Basic it changes only the
// password, and encoded is true.
func (m Mistake) inHeader(value string) (wrong string, encoded bool) {
	scheme, secret, hasScheme := strings.Cut(value, " ")
	if !hasScheme {
		return m.In(value), false
	}
	name, password, isPair := strings.Cut(decoded(value), ":")
	if isPair {
		return scheme + " " + base64.StdEncoding.EncodeToString([]byte(name+":"+m.In(password))), true
	}
	return scheme + " " + m.In(secret), false
}

// decoded returns the credentials in the value of a header with the scheme Basic, or "" for another scheme.
func decoded(value string) string {
	scheme, secret, _ := strings.Cut(value, " ")
	pair, err := base64.StdEncoding.DecodeString(secret)
	if err != nil || !strings.EqualFold(scheme, "basic") {
		return ""
	}
	return string(pair)
}

// NearMiss returns the header of the user with the mistake in each secret, or nil if the mistake changes nothing.
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

// shown returns the part of a changed credential that must be redacted, and the name that replaces it. A shell can derive
// the value from the name, which contains the variable of the valid credential. Inside base64 it cannot, so the value has
// its own variable.
func (m Mistake) shown(key, value string) (wrong, name string) {
	if !inside(key, "credentials") && !inside(key, "users") {
		return "", ""
	}
	wrong, encoded := m.In(value), false
	if headerOf(key) != "" {
		wrong, encoded = m.inHeader(value)
		_, secret, hasScheme := strings.Cut(wrong, " ")
		if hasScheme {
			wrong = secret
		}
	}
	if encoded {
		return wrong, "${" + Variable(key) + m.own + "}"
	}
	if m.own == OtherEnd.own { // lacks the last character, as with OneLess
		wrong = withoutLast(strings.TrimRight(wrong, "="))
	}
	return wrong, "${" + Variable(key) + m.shell
}
