package config

import (
	"encoding/base64"
	"strings"
	"unicode"
)

// NearMissCredential gets a credential almost right.
type NearMissCredential int

// The ways to get a credential almost right.
const (
	OneMore   NearMissCredential = iota // the credential and one more character
	OtherCase                           // its small letters as capitals, and the other way round
)

// NearMissCredentials are all of them.
var NearMissCredentials = []NearMissCredential{OneMore, OtherCase}

// of returns the misspelt credential. What may be a number in hexadecimal, such as a uuid, is the same in either case.
func (m NearMissCredential) of(secret string) string {
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

// named is how a shell writes the misspelt value of a variable; a value inside base64 has a separate name.
func (m NearMissCredential) named(variable string, encoded bool) string {
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

// header misspells the value of a header after its scheme; with Basic, only the password.
func (m NearMissCredential) header(value string) (misspelt string, encoded bool) {
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

// NearMissKey returns the API key with this mistake; "" where it changes nothing.
func (c *Config) NearMissKey(m NearMissCredential) string {
	if wrong := m.of(c.Credentials.APIKey); wrong != c.Credentials.APIKey {
		return wrong
	}
	return ""
}

// NearMiss returns the headers with which the user would ask, had each secret in them this mistake; nil where it changes nothing.
func (u User) NearMiss(m NearMissCredential) map[string]string {
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
