package config

import (
	"encoding/base64"
	"strings"
	"unicode"
)

// Misspelling gets a credential almost right.
type Misspelling int

// The ways to get a credential almost right.
const (
	OneMore   Misspelling = iota // the credential and one more character
	OtherCase                    // its small letters as capitals, and the other way round
)

// Misspellings are all of them.
var Misspellings = []Misspelling{OneMore, OtherCase}

// of returns the misspelt credential. What may be a number in hexadecimal, such as a uuid, is the same in either case.
func (m Misspelling) of(secret string) string {
	switch {
	case secret == "":
		return secret
	case m == OneMore:
		return secret + "x"
	case strings.Trim(secret, "0123456789abcdefABCDEF-{}") == "":
		return secret
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, secret)
}

// named is how a shell would write the misspelt value of a variable; what stands within base64 has a name of its own.
func (m Misspelling) named(variable string, encoded bool) string {
	switch {
	case encoded && m == OneMore:
		return "${" + variable + "_AND_MORE}"
	case encoded:
		return "${" + variable + "_IN_OTHER_CASE}"
	case m == OneMore:
		return "${" + variable + "}x"
	}
	return "${" + variable + "~~}"
}

// header misspells the value of a header: behind its scheme, and of a pair of Basic the password only.
func (m Misspelling) header(value string) (misspelt string, encoded bool) {
	scheme, secret, both := strings.Cut(value, " ")
	if !both {
		return m.of(value), false
	}
	if name, password, isPair := pairOf(scheme, secret); isPair {
		return scheme + " " + base64.StdEncoding.EncodeToString([]byte(name+":"+m.of(password))), true
	}
	return scheme + " " + m.of(secret), false
}

// pairOf reads the credentials of the scheme Basic.
func pairOf(scheme, secret string) (name, password string, isPair bool) {
	if !strings.EqualFold(scheme, "basic") {
		return "", "", false
	}
	pair, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(pair), ":")
}

// MisspeltKey returns the API key with this mistake; "" where it changes nothing.
func (c *Config) MisspeltKey(m Misspelling) string {
	if wrong := m.of(c.Credentials.APIKey); wrong != c.Credentials.APIKey {
		return wrong
	}
	return ""
}

// Misspelt returns the headers with which the user would ask, had each secret in them this mistake; nil where it changes
// nothing.
func (u User) Misspelt(m Misspelling) map[string]string {
	headers, wrong := u.Headers, map[string]string{}
	if len(headers) == 0 {
		headers = map[string]string{"Authorization": "Bearer " + u.Token}
	}
	changed := false
	for name, value := range headers {
		wrong[name] = value
		if !public(name) {
			wrong[name], _ = m.header(value)
			changed = changed || wrong[name] != value
		}
	}
	if !changed {
		return nil
	}
	return wrong
}
