package target

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Caller is the sender of a request to the agent server.
type Caller struct {
	name   string // as the sentences call them
	Key    string // of the configuration, of their credentials, such as users.0; empty where they have none, or wrong ones
	Header http.Header
	User   *config.User // nil where it is none that is configured
}

// The callers as the sentences name them.
const (
	TheUser        = "the user"
	TheOtherUser   = "the other user"
	aStudioUser    = "a studio user"
	NoCredentials  = "a caller without credentials"
	anUnknownToken = "a caller with an unknown token"
	anEmptyToken   = "a caller with an empty token"
	anotherScheme  = "a caller with another scheme"
	aPlanesKey     = "a caller with the API key of the control plane"
)

// tokenMistakes are those of callers whose token is almost that of the first user.
var tokenMistakes = map[string]config.Mistake{
	"a caller with a token that has one more character":     config.OneMore,
	"a caller with a token in the other case":               config.OtherCase,
	"a caller with a token that lacks its last character":   config.OneLess,
	"a caller with a token that has another last character": config.OtherEnd,
}

// planesSchemes are the schemes of the control plane with whose credentials callers try the agent server.
var planesSchemes = map[string]string{
	aPlanesKey: SchemeAPIKey,
	"a caller with the tenant ID of the control plane":    SchemeTenantID,
	"a caller with the bearer token of the control plane": SchemeBearer,
}

// Owner is the user who owns what the scenarios create: the first of the configuration, and where there is none, a
// caller without credentials (the target has no authentication handler then).
func (t *Target) Owner() Caller {
	if len(t.Config.Users) == 0 {
		return Caller{name: TheUser}
	}
	return t.CallerWith("users.0")
}

// studioKey is the key of the credentials of the studio user.
const studioKey = "agent.studio_headers"

// UserKeys are the keys of the configuration that hold credentials of a caller.
func (t *Target) UserKeys() (keys []string) {
	for i := range t.Config.Users {
		keys = append(keys, fmt.Sprintf("users.%d", i))
	}
	if len(t.Config.Agent.StudioHeaders) > 0 {
		keys = append(keys, studioKey)
	}
	return keys
}

// CallerWith returns the caller whose credentials the key of the configuration holds, as they are now. Where the
// configuration has no such key, that is the caller without credentials.
func (t *Target) CallerWith(key string) Caller {
	switch at := slices.Index(t.UserKeys(), key); {
	case at < 0:
		return Caller{name: NoCredentials}
	case key == studioKey:
		return Caller{name: aStudioUser, Key: key, Header: config.HeaderOf(t.present().Agent.StudioHeaders)}
	default:
		return Caller{name: key, Key: key, Header: t.present().Users[at].Header(), User: &t.Config.Users[at]}
	}
}

// Caller returns the caller that a sentence names. Where the configuration lacks it, the error skips the scenario.
func (t *Target) Caller(name string) (Caller, error) {
	key := map[string]string{TheUser: "users.0", TheOtherUser: "users.1", aStudioUser: studioKey}[name]
	mistake, isNearMiss := tokenMistakes[name]
	hasNone := key == "" && planesSchemes[name] == "" && !isNearMiss // that is valid, or almost
	switch {
	case hasNone && (t.AgentRefusal() != 0 || len(t.Config.Users) > 0):
		return t.wrongCaller(name), nil
	case len(t.Config.Users) == 0:
		return Caller{}, outcome.Needs("users")
	case key != "" && !t.Config.Has(key):
		return Caller{}, outcome.Needs(key)
	case key != "":
		return t.CallerWith(key), nil
	case !isNearMiss:
		return t.planesCaller(name)
	}
	if wrong := t.present().Users[0].NearMiss(mistake); wrong != nil {
		return Caller{name: name, Header: wrong}, nil
	}
	key, _ = t.Config.CredentialOf(0)
	return Caller{}, outcome.Inapplicable(key, "the credentials of the first user are the same with this mistake")
}

// MayLackCredentials reports whether a handler may treat the invalid credentials of the named caller as missing: the token
// is empty, or in another scheme or header.
func MayLackCredentials(name string) bool {
	return name == anEmptyToken || name == anotherScheme || planesSchemes[name] != ""
}

// planesCaller is a caller with a credential of the control plane, sent as there, and with nothing else. Where the
// address of the agent server is known and the credentials may not be sent there, the error skips the scenario.
func (t *Target) planesCaller(name string) (Caller, error) {
	switch base := t.AgentAddress(); {
	case !t.Config.SeparateCredentials:
		return Caller{}, outcome.Needs("separate_credentials")
	case base != "" && !t.takesPlanesCredentials(base):
		return Caller{}, outcome.Needs("agent_target",
			": credentials of the control plane are sent only to addresses that the configuration names")
	}
	return Caller{name: name, Header: t.Credentials(Asker(planesSchemes[name]))}, nil
}

// takesPlanesCredentials tells whether credentials of the control plane may be sent to an agent server: the
// configuration names its address, or its origin is that of the control plane.
func (t *Target) takesPlanesCredentials(base string) bool {
	origin := config.Origin(base)
	return base == t.Config.AgentTarget || origin != "" && origin == config.Origin(t.Config.Target)
}

// UnknownCaller has a token that no target accepts.
func (t *Target) UnknownCaller() Caller { return t.wrongCaller(anUnknownToken) }

// wrongCaller sends something wrong as the first user sends theirs, or as a bearer token.
func (t *Target) wrongCaller(name string) Caller {
	u := config.User{Token: wrongToken}
	if len(t.Config.Users) > 0 {
		u = t.present().Users[0]
	}
	return Caller{name: name, Header: wrongHeader(u, name)}
}

// wrongToken is a token that no target accepts. It is not a secret, and reports show it.
const wrongToken = "agentconform-unknown-token"

// currentHeader is the header with which a caller asks now: credentials may have been read again since the caller was
// named.
func (t *Target) currentHeader(who Caller) http.Header {
	if who.Key != "" {
		return t.CallerWith(who.Key).Header
	}
	if who.Header == nil {
		return http.Header{}
	}
	return who.Header.Clone()
}

// wrongHeader is the user's header with what the kind of caller gets wrong. Another scheme carries a token that
// would be good under its own.
func wrongHeader(u config.User, kind string) http.Header {
	h, token := u.Header(), ""
	switch kind {
	case NoCredentials:
		return http.Header{}
	case anotherScheme:
		scheme, own, both := strings.Cut(h.Get("Authorization"), " ")
		if !both {
			own = wrongToken
		}
		if strings.EqualFold(scheme, "Basic") {
			return http.Header{"Authorization": {"Bearer " + own}}
		}
		return http.Header{"Authorization": {"Basic " + own}}
	case anUnknownToken:
		token = wrongToken
	case anEmptyToken:
	default:
		panic("no caller of the features: " + kind)
	}
	for name := range h {
		scheme := h.Get(name)[:strings.IndexByte(h.Get(name), ' ')+1]
		h.Set(name, scheme+token)
	}
	return h
}

// AgentRefuses says that the agent server refuses callers without credentials, with which status.
func (t *Target) AgentRefuses(status int) { t.refusing.Store(int64(status)) }

// JudgeAgentAt sets the URL of the agent server that the run tests, as the control plane returned it.
func (t *Target) JudgeAgentAt(base string) {
	t.underTest.Store(&base)
	t.Progress(Event{Kind: Named, Name: base})
}

// AgentRefusal is the status with which the agent server refuses callers without credentials, where no user is
// configured and the server was seen to refuse: what needs no user is judged then. 0 otherwise.
func (t *Target) AgentRefusal() int {
	if len(t.Config.Users) > 0 {
		return 0
	}
	return int(t.refusing.Load())
}

// AgentAddress is the address of the agent server under test, "" while it is not known.
func (t *Target) AgentAddress() string {
	if found := t.underTest.Load(); found != nil {
		return *found
	}
	return t.Config.AgentTarget
}

// Refused blocks what needs the agent server at an address that the control plane has named, where an error says that
// no request goes there. It returns any other error as it is.
func Refused(t *Target, named string, err error) error {
	var why *exchange.RefusedAddress
	if !errors.As(err, &why) {
		return err
	}
	return outcome.Blocked("no user's token is sent to the agent server address that the deployment has at %s, %.200q: "+
		"%s; %s", t.Config.AgentURLFrom, t.Redact.Text(named), why, client.RemedyOf(why)).By(reports.ByKey, why.Key)
}

// ListsBySearch says that the target serves the search endpoint and not GET /threads, for a configuration that does
// not say.
func (t *Target) ListsBySearch() { t.searches.Store(true) }

// Searches tells whether threads are listed with the search endpoint: the configuration says so, or it says nothing and
// the target was seen to serve no other.
func (t *Target) Searches() bool {
	return t.Config.Agent.Listing == "search" || t.Config.Agent.Listing == "" && t.searches.Load()
}

// NotServed tells whether an answer says that the server has no such operation.
func NotServed(a *exchange.Response) bool { return IsNotServed(a.Status) }

// IsNotServed is NotServed for a status.
func IsNotServed(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// NoteListing notes that GET /threads, which the interface shows, is not served. The answer is that to it.
func (t *Target) NoteListing(a *exchange.Response) {
	if NotServed(a) {
		t.Note(reports.Note{Kind: reports.NoteListing, Exchange: a.ID,
			Text: fmt.Sprintf("GET /threads is answered with %d; threads are listed with POST /threads/search", a.Status)})
	}
}

// ListingHint names the configuration that a list without the expected thread may ask for.
func (t *Target) ListingHint() string {
	call := map[bool]string{false: "GET /threads", true: "POST /threads/search"}[t.Searches()]
	return call + " was asked: if the target lists threads by the other one, or the list is a page, set agent.listing " +
		"to get or search"
}

// AdvertiseKey is the key of the URL at which a target's builder reaches the fixtures.
const AdvertiseKey = "fixtures.advertise"

// Fixtures are the sources that the suite itself serves to the target's builder (key fixtures).
type Fixtures interface {
	Listening() string                 // address, "host:port"
	Advertised() string                // base URL for builders
	Contents() []string                // what is served, for people
	Fetched() int                      // requests of others that were served
	Reached(ctx context.Context) error // why this machine does not reach the advertised URL; nil where it does
}

// Unfetched says that nothing was fetched from the fixtures, and what to do about it; both are "" where something
// was, or the suite serves none.
func (t *Target) Unfetched() (found, remedy string) {
	if t.Fixtures == nil || t.Fixtures.Fetched() > 0 {
		return "", ""
	}
	return "nothing was fetched from the fixtures at " + t.Fixtures.Advertised(),
		"set " + AdvertiseKey + " to a URL at which the target's builder reaches this machine"
}

// BlamingFixtures adds to an outcome that nothing was fetched from the fixtures, where that is so: then the target has
// nothing that it could build.
func (t *Target) BlamingFixtures(o *outcome.Outcome) *outcome.Outcome {
	found, remedy := t.Unfetched()
	if found == "" {
		return o
	}
	o.Reason += "; " + found + ": " + remedy
	if len(o.Violations) > 0 {
		o.Hinting(found + ": " + remedy)
	}
	return o.By(reports.ByKey, AdvertiseKey)
}

// RetryFor is [client.Repeat] for a limit of time. A target may accept something (202) before it takes effect, and its
// lists may learn of it late.
func (t *Target) RetryFor(ctx context.Context, limit time.Duration, look func() (done bool, err error)) error {
	return client.Repeat(ctx, t.Config.Polling.Interval, t.Config.Polling.MaxInterval, time.Now().Add(limit), look)
}

// WaitSettleDelay waits until something that was done in the background would be seen.
func (t *Target) WaitSettleDelay(ctx context.Context, act *exchange.Response) error {
	return client.Sleep(ctx, t.SettleDelay(act))
}

// SettleDelay is twice as long as the target took to answer, and longer where it has only accepted the act.
func (t *Target) SettleDelay(act *exchange.Response) time.Duration {
	wait := max(50*time.Millisecond, 2*act.Took)
	if act.Status == http.StatusAccepted {
		wait = max(wait, 500*time.Millisecond)
	}
	return min(wait, t.Config.Timeouts.Request)
}
