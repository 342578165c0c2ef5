package config

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/spec/spelling"
)

// Complete derives values from other keys and validates the configuration. Load calls it. Call it before a test run if
// the configuration was built in code.
func (c *Config) Complete() error { return joined(c.complete()) }

// wrongValues returns the mistakes in values that do not depend on other keys.
func (c *Config) wrongValues() []*Error {
	v := &validator{Config: c}
	v.values()
	return v.sorted()
}

func (c *Config) complete() []*Error {
	v := &validator{Config: c}
	v.values()
	v.refuse(c.Polling.MaxInterval < c.Polling.Interval, "polling.max_interval", "is shorter than polling.interval",
		"set it to polling.interval or longer")
	for _, m := range spec.Words(c.Vocabulary).Misuses() {
		v.refuse(true, "vocabulary."+m.Name, m.Problem, "the words of the interface, on the left, are "+
			strings.Join(spec.Neutral(), ", "))
	}
	v.fixtures()
	v.deployments()
	v.users()
	v.secrets()
	v.reach()
	return v.sorted()
}

// values checks each key by the table of keys, and the addresses.
func (v *validator) values() {
	walk(reflect.ValueOf(v.Config).Elem(), "", v.value)
	v.address("target", &v.Target)
	v.address("agent_target", &v.AgentTarget)
}

// sorted returns the mistakes in the order of their keys, without duplicates.
func (v *validator) sorted() []*Error {
	slices.SortStableFunc(v.problems, func(a, b *Error) int { return strings.Compare(a.Key, b.Key) })
	isSame := func(a, b *Error) bool { return a.Key == b.Key && a.Problem == b.Problem } // in several cases of a refusal
	return slices.CompactFunc(v.problems, isSame)
}

type validator struct {
	*Config
	problems []*Error
}

// refuse records a mistake if wrong is true.
func (v *validator) refuse(wrong bool, key, problem, remedy string) {
	if wrong {
		v.problems = append(v.problems, &Error{Source: "configuration", Key: key, Problem: problem, Remedy: remedy})
	}
}

var listIndex = regexp.MustCompile(`\.\d+$`)

// reportedKey returns a key without its index in a list. If all cases of a refusal have the same values, it also removes
// the case, because the file then has the values once.
func (v *validator) reportedKey(key string) string {
	key = listIndex.ReplaceAllString(key, "")
	status, detail := v.Agent.RejectedStatus, v.Agent.RejectedDetail
	isOneStatus := inside(key, "agent.rejected_status") && status.isOne()
	isOneDetail := inside(key, "agent.rejected_detail") && detail.isOne()
	if isOneStatus || isOneDetail {
		return inTable(key)
	}
	return key
}

// value checks a key or an item of a list against the table of keys.
func (v *validator) value(key string, value reflect.Value) {
	known := keys[inTable(key)]
	isDetail := inside(key, "agent.rejected_detail")
	key = v.reportedKey(key)
	switch {
	case value.Kind() == reflect.String && isDetail:
		v.refuse(value.String() == "", key, "has an empty text", "remove it, or write the detail of the refusal")
	case value.Kind() == reflect.String && known.OneOf != nil:
		v.refuse(!slices.Contains(known.OneOf, value.String()), key, fmt.Sprintf("unknown value %q", value),
			spelling.DidYouMean(spelling.Nearest(value.String(), known.OneOf))+
				"use one of "+strings.TrimSuffix(strings.Join(known.OneOf, ", "), ", "))
	case value.Kind() == reflect.String && known.Wrong != "":
		v.refuse(!known.Pattern.MatchString(value.String()), key, fmt.Sprintf("%q %s", value, known.Wrong), known.Use)
	case value.Kind() == reflect.Int && known.Between != nil:
		isBetween := known.Between[0] <= int(value.Int()) && int(value.Int()) <= known.Between[1]
		v.refuse(!isBetween, key, fmt.Sprintf("%d %s", value.Int(), known.Wrong), known.Use)
	case value.IsValid() && value.Type() == durationType:
		d := time.Duration(value.Int())
		v.refuse(d < known.AtLeast, key, fmt.Sprintf("is %s", d), fmt.Sprintf("use %s or longer: %s", known.AtLeast, known.Use))
	}
}

// address accepts http and https URLs with a host, and removes a trailing slash. The error never shows an address that
// may contain a password.
func (v *validator) address(key string, at *string) (isURL bool) {
	u, err := url.Parse(*at)
	isURL = err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		u.RawQuery == "" && u.Fragment == ""
	shown := "it"
	if !strings.ContainsAny(*at, "@?#") {
		shown = strconv.Quote(*at)
	}
	if !strings.Contains(*at, "://") {
		v.refuse(*at != "", key, shown+" is not a URL with a scheme", "begin it with https:// or http://")
		return false
	}
	v.refuse(!isURL, key, shown+" is not an http or https URL without user name, query and fragment",
		"use a URL such as https://host.example/api, and the keys of credentials")
	*at = strings.TrimRight(*at, "/")
	return isURL
}

// fixtures checks the address to listen on, the advertised URL, and that the handler of the served graph knows the users.
// The URL must not have a path, because clients of a registry use /v2/.
func (v *validator) fixtures() {
	serve, f := v.Fixtures.Serve, &v.Fixtures
	isURL := v.address("fixtures.advertise", &f.Advertise)
	u, _ := url.Parse(f.Advertise)
	v.refuse(isURL && (u.Path != "" || isUnspecified(u.Hostname())), "fixtures.advertise",
		fmt.Sprintf("%q has a path, or a builder cannot reach its host", f.Advertise),
		"use scheme, name or address of this machine, and port only, such as http://ci.example:8090")
	if serve == "" {
		v.refuse(f.Advertise != "", "fixtures.serve", "is missing, and fixtures.advertise is set",
			"set it to the address to listen on, such as 0.0.0.0:8090, or remove fixtures.advertise")
		return
	}
	host, port, err := net.SplitHostPort(serve)
	number, invalid := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || invalid != nil:
		v.refuse(true, "fixtures.serve", fmt.Sprintf("%q is not an address to listen on", serve),
			"use HOST:PORT, such as 0.0.0.0:8090")
	case f.Advertise == "":
		v.refuse(isUnspecified(host), "fixtures.advertise",
			fmt.Sprintf("is missing, and fixtures.serve %q does not name a host", serve),
			"set it to the URL at which the target's builder reaches this machine, such as http://ci.example:"+port)
	default:
		v.refuse(number == 0, "fixtures.serve",
			fmt.Sprintf("%q is a different port in each test run, and fixtures.advertise names one port", serve),
			"choose a port, such as 8090")
	}
	if v.AgentTarget != "" { // the users are those of another graph
		return
	}
	for i, u := range v.Users {
		key := fmt.Sprintf("users.%d", i)
		v.refuse(u.Token == "" && len(u.Headers) > 0, key+".token",
			"is missing, and the graph of fixtures accepts bearer tokens only",
			"set it in place of headers, or remove fixtures")
		for name, value := range u.Fields {
			_, isString := value.(string)
			v.refuse(name != "role" && name != TeamField || !isString, key+".fields."+name,
				"is not a field that the graph of fixtures adds to a user",
				"remove it, and use role and team with strings")
		}
	}
}

// isUnspecified reports whether a host to listen on means all interfaces.
func isUnspecified(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "" || err == nil && at.IsUnspecified()
}

// deployments checks the fields of a create body that a test run reads (section 2).
func (v *validator) deployments() {
	_, named := v.Create.Body["source"]
	isFilled := v.Fixtures.Serve != "" && !named // the fixtures set it
	if v.Target != "" && len(v.Create.Body) > 0 {
		v.refuse(!isFilled && !slices.Contains(spec.Sources(), v.Source()), "create.body.source",
			fmt.Sprintf("%q is not a source of the interface", v.Source()),
			"use one of "+strings.Join(spec.Sources(), ", ")+"; if the target has another name for it, set vocabulary")
		for _, key := range []string{"source_config", "source_revision_config"} {
			value, given := v.Create.Body[key]
			_, isObject := value.(map[string]any)
			v.refuse(given && !isObject, "create.body."+key, "is not an object", "write it as keys with values")
		}
	}
	v.refuse(v.Existing.Revision != "" && v.Existing.Deployment == "", "existing.deployment", "is missing",
		"set it to the id of the deployment of existing.revision")
}

// users checks that each user has credentials, and that no other user has the same name, token or identity. The third
// user may have the identity of the first in a different team.
func (v *validator) users() {
	const other = ": the second must not see the data of the first"
	own := []string{v.Credentials.APIKey, v.Credentials.TenantID, v.Credentials.Bearer}
	for i := range v.Users {
		u, key := &v.Users[i], fmt.Sprintf("users.%d", i)
		u.Name = cmp.Or(u.Name, key)
		hasCredentials := u.Token != "" || len(u.Headers) > 0
		v.refuse(!hasCredentials, key+".token", "is missing", "set "+Variable(key+".token")+", or headers for another scheme")
		v.sameIdentity(i)
		isTaken := slices.ContainsFunc(v.Users[:i], func(before User) bool { return before.Name == u.Name })
		v.refuse(isTaken, key+".name", "is used twice", "give each user a different name")
		for j, before := range v.Users[:i] {
			isSame := hasCredentials && u.Token == before.Token && maps.Equal(u.Headers, before.Headers)
			problem := fmt.Sprintf("is that of users.%d", j)
			v.refuse(isSame, key+".token", problem, "use the token of another user"+other)
			isOwn := !isSame && !u.SameIdentity && u.Identity != ""
			v.refuse(isOwn && u.Identity == before.Identity, key+".identity", problem,
				"use another user"+other)
		}
		v.refuse(v.SeparateCredentials && u.Token != "" && slices.Contains(own, u.Token), "separate_credentials",
			"is true, but "+key+".token is also a credential for the control plane",
			"use another token, or remove separate_credentials")
		v.refuse(u.Token != "" && u.Token == v.Agent.BlockedToken, blockedKey, "is the token of "+key,
			"use a token that the authentication handler refuses")
	}
}

// sameIdentity sets the identity of a user with same_identity to that of the first user, and checks their teams.
func (v *validator) sameIdentity(i int) {
	u, key := &v.Users[i], fmt.Sprintf("users.%d", i)
	switch {
	case !u.SameIdentity:
		return
	case i != 2:
		v.refuse(true, key+".same_identity", "is true, which is for users.2 only", "make it the third user")
		return
	}
	first := &v.Users[0]
	v.refuse(u.Identity != "" && u.Identity != first.Identity, key+".identity", "is not that of users.0",
		"remove it, or remove same_identity")
	u.Identity = first.Identity
	const remedy = "set it to the team that the authentication handler returns for this user"
	v.refuse(first.Team() == "", "users.0.fields.team", "is missing, and users.2.same_identity is true", remedy)
	v.refuse(u.Team() == "" || u.Team() == first.Team(), key+".fields.team", "is missing, or the team of users.0", remedy)
}

const blockedKey = "agent.blocked_token"

// ShortestSecret is the minimum length of a secret in bytes. Redacting shorter ones everywhere would make every report
// unreadable.
const ShortestSecret = 4

// secrets rejects values that are not valid in an HTTP header. Errors never show the values of credentials.
func (v *validator) secrets() {
	eachString(reflect.ValueOf(v.Config).Elem(), func(key, value string) {
		name, isName := headerOf(key), inside(key, "credential_headers")
		if isName {
			name = value
		}
		v.refuse((isName || name != "") && !httpguts.ValidHeaderFieldName(name), key,
			fmt.Sprintf("%q is not a valid HTTP header name", name), "use letters, digits and hyphens")
		if !isSecret(key) {
			return
		}
		v.refuse(value != "" && len(value) < ShortestSecret && !isPublic(key, value), key,
			fmt.Sprintf("is shorter than %d characters: too short to redact it in reports", ShortestSecret),
			"use a longer secret")
		v.refuse(!httpguts.ValidHeaderFieldValue(value) || strings.TrimSpace(value) != value, key,
			"has a line break, leading or trailing whitespace, or another character that is not allowed in an HTTP header",
			"check for a copy error")
		isBare := strings.HasSuffix(key, ".token") || key == blockedKey ||
			strings.HasSuffix(key, ".bearer") && v.CredentialHeaders.Bearer == "Authorization"
		v.refuse(isBare && BeginsWithBearer(value), key,
			"begins with Bearer",
			"remove that word: the suite adds it")
		v.refuse(name == "" && inQuotationMarks(value), key, "begins and ends with a quotation mark", "remove both")
		if inside(key, "headers") {
			v.gateway(key, http.CanonicalHeaderKey(name), value)
		}
	})
}

// BeginsWithBearer reports whether a credential begins with the word "Bearer", which belongs to the header.
func BeginsWithBearer(value string) bool { return strings.HasPrefix(strings.ToLower(value), "bearer ") }

func inQuotationMarks(value string) bool {
	return len(value) > 1 && strings.ContainsAny(value[:1], "\"'") && value[0] == value[len(value)-1]
}

var ownHeaders = []string{"Connection", "Content-Length", "Content-Type", "Host", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// gateway accepts a header for a gateway, unless it is a credential or is set by the client.
func (v *validator) gateway(key, name, value string) {
	instead := ""
	taken := func(header, by string) {
		if http.CanonicalHeaderKey(header) == name {
			instead = by
		}
	}
	taken("Authorization", "credentials.bearer")
	taken(v.CredentialHeaders.APIKey, "credentials.api_key")
	taken(v.CredentialHeaders.TenantID, "credentials.tenant_id")
	taken(v.CredentialHeaders.Bearer, "credentials.bearer")
	if inside(key, "headers.agent_server") {
		taken("Authorization", "users.0.token")
	}
	v.eachSecret(func(key, _ string) {
		header := headerOf(key)
		if header != "" && !inside(key, "headers") {
			taken(header, key)
		}
	})
	isOwn := slices.Contains(ownHeaders, name)
	v.refuse(value == "", key, "is empty", "set its value, or remove it")
	v.refuse(isOwn, key,
		"is set by the suite itself",
		"remove it; user name and password of a proxy go into the URL of proxy")
	v.refuse(!isOwn && instead != "", key,
		"is a credential of the target: it would be sent with requests that must not have credentials",
		"set "+instead+" instead")
}

// reach checks the keys that configure how the target is reached.
func (v *validator) reach() {
	_, mistake := v.TLS.Client()
	if mistake != nil {
		v.problems = append(v.problems, mistake)
	}
	isHost := func(name string) bool {
		return name != "" && httpguts.ValidHostHeader(name) && !strings.ContainsAny(name, ":/")
	}
	for host, ip := range v.Resolve {
		_, notIP := netip.ParseAddr(ip)
		_, notHostIP := netip.ParseAddr(host)
		v.refuse(notIP != nil, "resolve."+host,
			fmt.Sprintf("%q is not an IP address", ip),
			"use an address such as 127.0.0.1, without a port: the port is that of the URL")
		v.refuse(notHostIP == nil || !isHost(host), "resolve."+host,
			fmt.Sprintf("%q is not a host name", host),
			"use the host of target or agent_target, without a port")
	}
	at, sockets := reports.HostPort(v.Target), v.Socket
	v.refuse(sockets != (Sockets{}) && v.Target == "" && v.AgentTarget == "", "socket",
		"is set, but neither target nor agent_target",
		"set target or agent_target to the URL that the server has on the socket, such as http://localhost")
	v.refuse(at != "" && at == reports.HostPort(v.AgentTarget) && sockets.ControlPlane != sockets.AgentServer,
		"socket.agent_server", "target and agent_target have the same host and port, but not the same socket",
		"use another host name in one of the two URLs")
	if v.Proxy == "" {
		return
	}
	u, err := url.Parse(v.Proxy)
	isProxy := err == nil && slices.Contains([]string{"http", "https", "socks5h"}, u.Scheme) && u.Hostname() != "" &&
		u.Port() != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
	v.refuse(!isProxy, "proxy", "is not an http, https or socks5h URL with a port and without a path",
		"use a URL such as http://proxy.example:3128")
	v.refuse(isProxy && u.User != nil && len(userInfo(u.User.String())[0]) < ShortestSecret, "proxy",
		fmt.Sprintf("has a password of fewer than %d characters: too short to redact it in reports", ShortestSecret),
		"use a longer password")
}
