package config

import (
	"encoding/base64"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mistake is a way to get a credential almost right, for requests that a target must refuse: one that compares only a
// part of a credential, or ignores its case, accepts them.
type Mistake int

// The mistakes.
const (
	OneMore   Mistake = iota // the credential and one more character
	OtherCase                // its small letters as capitals, and the other way round
	OneLess                  // without its last character
	OtherEnd                 // another last character
	mistakes
)

// In returns the credential with the mistake; the same where it changes nothing. What may be a number in hexadecimal,
// such as a uuid, is the same in either case.
func (m Mistake) In(secret string) string {
	switch {
	case secret == "":
		return secret
	case m == OneMore:
		return secret + "x"
	case m == OneLess:
		return withoutLast(secret)
	case m == OtherEnd:
		return withOtherEnd(secret)
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

// NearMiss returns the headers with which the user would ask, had each secret in them this mistake; nil where it
// changes nothing.
func (u User) NearMiss(m Mistake) map[string]string {
	headers := u.Headers
	if len(headers) == 0 {
		headers = map[string]string{"Authorization": "Bearer " + u.Token}
	}
	wrong := maps.Clone(headers)
	for name, value := range headers {
		if !isPublic("users.0.headers."+name, value) {
			wrong[name], _ = m.inHeader(value)
		}
	}
	if maps.Equal(wrong, headers) {
		return nil
	}
	return wrong
}

// named is how a shell writes the value of a variable with the mistake; a value inside base64 has a separate name.
// Another last character stands after the rest, which has the name of [OneLess].
func (m Mistake) named(variable string, encoded bool) string {
	if encoded {
		return "${" + variable + []string{"_AND_MORE", "_IN_OTHER_CASE", "_AND_LESS", "_CHANGED"}[m] + "}"
	}
	return []string{"${" + variable + "}x", "${" + variable + "~~}", "${" + variable + "%?}", "${" + variable + "%?}"}[m]
}

// hidden is what must not be shown of a credential with the mistake: all of it, or what it has of the right one.
func (m Mistake) hidden(wrong string) string {
	if m == OtherEnd {
		return withoutLast(strings.TrimRight(wrong, "="))
	}
	return wrong
}
