// Package nearmiss gets credentials almost right, for requests that a target must refuse: one that compares only a part of a
// credential, or ignores its case, accepts them.
package nearmiss

import (
	"encoding/base64"
	"strings"
	"unicode"
)

// Mistake is a way to get a credential almost right.
type Mistake int

// The mistakes.
const (
	OneMore   Mistake = iota // the credential and one more character
	OtherCase                // its small letters as capitals, and the other way round
)

// Mistakes are all of them.
var Mistakes = []Mistake{OneMore, OtherCase}

// In returns the credential with the mistake. What may be a number in hexadecimal, such as a uuid, is the same in either case.
func (m Mistake) In(secret string) string {
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

// Named is how a shell writes the value of a variable with the mistake; a value inside base64 has a separate name.
func (m Mistake) Named(variable string, encoded bool) string {
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

// InHeader makes the mistake in the value of a header after its scheme; with Basic, only in the password, which is encoded.
func (m Mistake) InHeader(value string) (wrong string, encoded bool) {
	scheme, secret, both := strings.Cut(value, " ")
	if !both {
		return m.In(value), false
	}
	if name, password, isPair := pairOf(scheme, secret); isPair {
		return scheme + " " + base64.StdEncoding.EncodeToString([]byte(name+":"+m.In(password))), true
	}
	return scheme + " " + m.In(secret), false
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
