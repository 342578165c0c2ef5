// Package within finds secrets in the values of a configuration: strings in JSON, and user info in URLs.
package within

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Each visits the strings of a value from JSON or YAML, each with its path.
func Each(value any, visit func(path []string, s string)) { each(value, nil, visit) }

func each(value any, path []string, visit func(path []string, s string)) {
	below := func(key string, value any) { each(value, append(slices.Clone(path), key), visit) }
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

// longest bounds a text in which strings are looked for, in bytes.
const longest = 64 << 10

// JSON are the strings of at least some bytes in a text that is an object or a list in JSON, such as the key file of a service account.
func JSON(text string, least int) (all []string) {
	var value any
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || len(text) > longest || json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	Each(value, func(_ []string, s string) {
		if len(s) >= least {
			all = append(all, s)
		}
	})
	return all
}

// UserInfos are the parts of a text that are the user info of a URL, as they are written.
func UserInfos(text string) (all []string) {
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

// User reads the user of an address, from its text where it is no URL; nil where there is none.
func User(address string) *url.Userinfo {
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
