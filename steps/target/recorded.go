package target

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/exchange"
)

// OtherCaller is the prefix of the names of callers whose credentials are not in the configuration. Two of them may be
// the same user, because credentials are renewed.
const OtherCaller = "caller "

// MaybeCaller is the name of a caller whose request may have lost its credentials, or may have them in an unknown place.
const MaybeCaller = "a caller that the recording does not show"

// credentialName matches the names of headers, and of parameters of a query, that hold credentials.
var credentialName = regexp.MustCompile(`(?i)auth|cookie|token|api-?_?key|secret|session|passw|credential|signature|jwt|tenant`)

// harmless are headers of requests that hold no credentials. Names of the groups "Sec-" and "Accept-" are not listed.
var harmless = []string{"Accept", "Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date",
	"Dnt", "Expect", "Forwarded", "Host", "Idempotency-Key", "If-Match", "If-Modified-Since", "If-None-Match",
	"If-Unmodified-Since", "Keep-Alive", "Origin", "Pragma", "Prefer", "Priority", "Range", "Referer", "Te", "Traceparent",
	"Tracestate", "Transfer-Encoding", "Upgrade", "Upgrade-Insecure-Requests", "User-Agent", "Via", "X-Forwarded-For",
	"X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto", "X-Real-Ip", "X-Request-Id", "X-Requested-With",
	"Access-Control-Request-Headers", "Access-Control-Request-Method"}

// IsHarmless reports whether a header of a request, in canonical form, holds no credentials.
func IsHarmless(name string) bool {
	isOfGroup := strings.HasPrefix(name, "Sec-") || strings.HasPrefix(name, "Accept-")
	return isOfGroup || slices.Contains(harmless, name)
}

// HoldsCredentials reports whether a header, or a parameter of a query, contains credentials according to its name.
func (t *Target) HoldsCredentials(name string) bool {
	return slices.Contains(t.credentialHeaders(), http.CanonicalHeaderKey(name)) ||
		!IsHarmless(http.CanonicalHeaderKey(name)) && credentialName.MatchString(name)
}

// SendsCredentials reports whether clients send credentials in a header. It ignores headers that only have a similar
// name, such as X-Csrf-Token.
func (t *Target) SendsCredentials(name string) bool {
	return slices.Contains([]string{"Authorization", "Cookie"}, name) || slices.Contains(t.credentialHeaders(), name)
}

// credentialHeaders returns the headers in which the configuration sends credentials, except those for a gateway.
func (t *Target) credentialHeaders() []string {
	names := t.Config.CredentialHeaders
	all := []string{names.APIKey, names.TenantID, names.Bearer}
	for _, key := range t.UserKeys() {
		all = slices.AppendSeq(all, maps.Keys(t.CallerWith(key).Header))
	}
	for i := range all {
		all[i] = http.CanonicalHeaderKey(all[i])
	}
	return all
}

// Gateway returns the names of the headers for a gateway in front of the target.
func (t *Target) Gateway() []string { return gatewayNames(t.Config) }

// RecordedCaller is a caller whose requests a recording may have.
type RecordedCaller struct {
	exchange.Caller
	header http.Header
	others []string // headers that requests of the caller must not have, unless they are in header
}

// Header returns the headers with the credentials of the caller.
func (c RecordedCaller) Header() http.Header { return c.header }

// Sent reports whether a request has all credentials of the caller, and no other credentials that count.
func (c RecordedCaller) Sent(header http.Header) bool {
	for _, name := range c.others {
		if c.header[name] == nil && header[name] != nil {
			return false
		}
	}
	for name := range c.header {
		if header.Get(name) != c.header.Get(name) {
			return false
		}
	}
	return len(c.header) > 0
}

// RecordedCallers returns the callers of a side: callers with credentials of the configuration, and callers with the
// suite's invalid credentials. Callers with more headers come first.
func (t *Target) RecordedCallers(side spec.Side) []RecordedCaller {
	all := t.recordedClients()
	if side == spec.AgentServer {
		all = t.recordedUsers()
	}
	all = slices.DeleteFunc(all, func(c RecordedCaller) bool { return len(c.header) == 0 })
	slices.SortStableFunc(all, func(a, b RecordedCaller) int { return len(b.header) - len(a.header) })
	return all
}

func (t *Target) recordedUsers() (all []RecordedCaller) {
	var names []string
	for _, key := range t.UserKeys() {
		names = slices.AppendSeq(names, maps.Keys(t.CallerWith(key).Header))
	}
	for _, key := range t.UserKeys() {
		header := t.CallerWith(key).Header
		all = append(all, RecordedCaller{sender(header, key, false), header, names})
	}
	unknown := t.UnknownCaller().Header
	all = append(all, RecordedCaller{sender(unknown, "", true), unknown, names})
	if len(t.Config.Users) > 0 && t.Config.Agent.BlockedToken != "" {
		blocked := exchange.Caller{Name: BlockedToken, Invalid: true}
		all = append(all, RecordedCaller{blocked, t.wrongCaller(BlockedToken).Header, nil})
	}
	return all
}

func (t *Target) recordedClients() (all []RecordedCaller) {
	own := t.Config.CredentialHeaders
	names := []string{http.CanonicalHeaderKey(own.APIKey), http.CanonicalHeaderKey(own.TenantID), http.CanonicalHeaderKey(own.Bearer)}
	for _, who := range []Sender{TheClient, SchemeAPIKey, SchemeTenantID, SchemeBearer, AnotherTenant} {
		header := t.Credentials(who)
		isSame := func(c RecordedCaller) bool { return maps.EqualFunc(c.header, header, slices.Equal) }
		if !slices.ContainsFunc(all, isSame) {
			all = append(all, RecordedCaller{sender(header, string(who), false), header, names})
		}
	}
	unknown := t.Credentials(UnknownKey)
	return append(all, RecordedCaller{sender(unknown, "", true), unknown, names})
}
