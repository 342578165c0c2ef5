package config

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// eachString visits the strings of a value from JSON or YAML, each with its path.
func eachString(value any, path []string, visit func(path []string, s string)) {
	below := func(key string, value any) { eachString(value, append(slices.Clone(path), key), visit) }
	switch v := value.(type) {
	case string:
		visit(path, v)
	case []any:
		for i, item := range v {
			below(strconv.Itoa(i), item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below(name, v[name])
		}
	}
}

// longestJSON bounds a text in which strings are looked for, in bytes.
const longestJSON = 64 << 10

// stringsInJSON are the strings of at least some bytes in a text that is an object or a list in JSON, such as the key
// file of a service account.
func stringsInJSON(text string, least int) (all []string) {
	var value any
	text = strings.TrimSpace(text)
	structured := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	if !structured || len(text) > longestJSON || json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	eachString(value, nil, func(_ []string, s string) {
		if len(s) >= least {
			all = append(all, s)
		}
	})
	return all
}

// userInfosIn are the parts of a text that are the user info of a URL, as they are written.
func userInfosIn(text string) (all []string) {
	for {
		_, rest, more := strings.Cut(text, "://")
		if !more {
			return all
		}
		text = rest
		if end := strings.IndexAny(rest, "/?# \t\r\n\"'<>\\"); end >= 0 {
			rest = rest[:end]
		}
		if at := strings.LastIndexByte(rest, '@'); at > 0 {
			all = append(all, rest[:at])
		}
	}
}

// userOf reads the user of an address, from its text where it is no URL; nil where there is none.
func userOf(address string) *url.Userinfo {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		u, err = url.Parse("http://" + address)
	}
	if err == nil {
		return u.User
	}
	_, rest, found := strings.Cut(address, "://")
	if !found {
		rest = address
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return nil
	}
	if name, password, both := strings.Cut(rest[:at], ":"); both {
		return url.UserPassword(name, password)
	}
	return url.User(rest[:at])
}
