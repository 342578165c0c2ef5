package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"golang.org/x/net/http/httpguts"
)

// A credential may be in a file of its own, which is read again when the target refuses it: {file: path} in place of the string.
// The path is relative to the folder of the configuration file.
const fileKey = "file"

// eachSecret visits the keys that hold a credential, with the places of their values: those of credentials, other_tenant, users
// (token and headers), agent.studio_headers and headers.
func eachSecret(root *yaml.Node, visit func(key string, at **yaml.Node)) {
	in(root, "", "credentials", func(key string, at **yaml.Node) { eachOf(*at, key, visit, "api_key", "tenant_id", "bearer") })
	in(root, "", "other_tenant", func(key string, at **yaml.Node) { eachOf(*at, key, visit, "api_key", "tenant_id", "bearer") })
	in(root, "", "agent", func(key string, at **yaml.Node) {
		in(*at, key, "studio_headers", func(key string, at **yaml.Node) { eachOf(*at, key, visit) })
	})
	in(root, "", "headers", func(key string, at **yaml.Node) {
		in(*at, key, "control_plane", func(key string, at **yaml.Node) { eachOf(*at, key, visit) })
		in(*at, key, "agent_server", func(key string, at **yaml.Node) { eachOf(*at, key, visit) })
	})
	in(root, "", "users", func(key string, at **yaml.Node) {
		for i, user := range resolved(*at).Content {
			user, key := user, join(key, strconv.Itoa(i))
			eachOf(user, key, visit, "token")
			in(user, key, "headers", func(key string, at **yaml.Node) { eachOf(*at, key, visit) })
		}
	})
}

// in visits the value of one name of a mapping.
func in(n *yaml.Node, group, name string, visit func(key string, at **yaml.Node)) {
	eachOf(n, group, visit, name)
}

// eachOf visits the values of the names of a mapping; of all where none is given.
func eachOf(n *yaml.Node, group string, visit func(key string, at **yaml.Node), names ...string) {
	if n = resolved(n); n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if name := n.Content[i].Value; len(names) == 0 || slices.Contains(names, name) {
			visit(join(group, name), &n.Content[i+1])
		}
	}
}

func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// secretFile is the file that a configuration names in the place of a credential.
type secretFile struct{ path, place string }

// takeFiles puts an empty value in the place of each {file: path}, and notes which file is to be read into it.
func (l *loader) takeFiles(root *yaml.Node, source string) {
	eachSecret(root, func(key string, at **yaml.Node) {
		n := resolved(*at)
		if n.Kind != yaml.MappingNode {
			return
		}
		place := fmt.Sprintf("%s:%d", source, n.Line)
		value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line, Column: n.Column}
		*at = value
		if len(n.Content) != 2 || n.Content[0].Value != fileKey || resolved(n.Content[1]).Kind != yaml.ScalarNode || resolved(n.Content[1]).Value == "" {
			l.mistaken(&Error{Source: place, Key: key, Problem: "is a group of keys", Remedy: "use a string, or {file: path} with a file that holds it"})
			return
		}
		path := resolved(n.Content[1]).Value
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(source), path)
		}
		if l.files == nil {
			l.files = map[*yaml.Node]secretFile{}
		}
		l.files[value] = secretFile{path, place}
	})
}

// readSecretFiles reads the files that takeFiles has noted, as far as their values are still in the mapping.
func (l *loader) readSecretFiles(root *yaml.Node) {
	eachSecret(root, func(key string, at **yaml.Node) {
		file, noted := l.files[*at]
		if !noted {
			return
		}
		content, err := readSecret(file.path)
		if err != nil {
			l.mistaken(&Error{Source: file.place, Key: key, Problem: fmt.Sprintf("the file %s cannot be used: %s", file.path, reason(err)), Remedy: "name a readable file that holds only the credential"})
			return
		}
		(*at).Value = content
		if l.config.SecretFiles == nil {
			l.config.SecretFiles = map[string]string{}
		}
		l.config.SecretFiles[key] = file.path
	})
}

// maxSecret is more than a header value may have.
const maxSecret = 64 << 10

// readSecret reads a credential from a file, without whitespace around it.
func readSecret(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecret {
		return "", fmt.Errorf("it is no regular file of at most %d bytes", maxSecret)
	}
	content, err := readBounded(path)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(content))
	switch {
	case value == "":
		return "", errors.New("it is empty")
	case len(value) < ShortestSecret || !httpguts.ValidHeaderFieldValue(value):
		return "", fmt.Errorf("it has fewer than %d characters, or one that is not allowed in an HTTP header", ShortestSecret)
	}
	return value, nil
}

// Reread reads the files of credentials again. If one has changed, it returns the configuration with the new values, and c stays as
// it is; else nil. A file that cannot be read, or holds no credential, counts as unchanged: it may just be written.
func (c *Config) Reread() *Config {
	changed := *c
	changed.Users = slices.Clone(c.Users)
	for i := range changed.Users {
		changed.Users[i].Headers = maps.Clone(c.Users[i].Headers)
	}
	changed.Agent.StudioHeaders = maps.Clone(c.Agent.StudioHeaders)
	changed.Headers = Headers{ControlPlane: maps.Clone(c.Headers.ControlPlane), AgentServer: maps.Clone(c.Headers.AgentServer)}
	some := false
	for key, path := range c.SecretFiles {
		value, err := readSecret(path)
		if err == nil && changed.setSecret(key, value) {
			some = true
		}
	}
	if !some {
		return nil
	}
	return &changed
}

// setSecret sets a credential by its key and tells whether it was another one.
func (c *Config) setSecret(key, value string) (changed bool) {
	set := func(at *string) bool {
		changed = *at != value
		*at = value
		return changed
	}
	inMap := func(all map[string]string, name string) bool {
		changed = all[name] != value
		all[name] = value
		return changed
	}
	part := strings.SplitN(key, ".", 4)
	switch part[0] {
	case "credentials":
		return set(c.Credentials.field(part[1]))
	case "other_tenant":
		return set(c.OtherTenant.field(part[1]))
	case "agent":
		return inMap(c.Agent.StudioHeaders, strings.TrimPrefix(key, "agent.studio_headers."))
	case "headers":
		if name, of := strings.CutPrefix(key, "headers.control_plane."); of {
			return inMap(c.Headers.ControlPlane, name)
		}
		return inMap(c.Headers.AgentServer, strings.TrimPrefix(key, "headers.agent_server."))
	}
	i, err := strconv.Atoi(part[1])
	if err != nil || i >= len(c.Users) {
		return false
	}
	if part[2] == "token" {
		return set(&c.Users[i].Token)
	}
	return inMap(c.Users[i].Headers, part[3])
}

func (c *Credentials) field(name string) *string {
	return map[string]*string{"api_key": &c.APIKey, "tenant_id": &c.TenantID, "bearer": &c.Bearer}[name]
}
