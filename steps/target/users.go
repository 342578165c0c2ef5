package target

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
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
	name   string // name in steps
	Key    string // key of the credentials, such as users.0; empty without valid credentials
	Header http.Header
	User   *config.User // nil if it is not a configured user
}

// The names of callers in steps.
const (
	TheUser           = "the user"
	TheOtherUser      = "the other user"
	SameIdentityUser  = "a user with the same identity" // identity of the first user, in a different team
	StudioUser        = "a studio user"
	NoCredentials     = "a caller without credentials"
	UnknownToken      = "a caller with an unknown token"
	BlockedToken      = "a caller with a blocked token"
	emptyTokenCaller  = "a caller with an empty token"
	otherSchemeCaller = "a caller with another scheme"
	planeKeyCaller    = "a caller with the API key of the control plane"
)

// tokenMistakes has the callers that send the first user's token with a mistake.
var tokenMistakes = map[string]config.Mistake{
	"a caller with a token that has one more character":     config.OneMore,
	"a caller with a token in the wrong case":               config.OtherCase,
	"a caller with a token that lacks its last character":   config.OneLess,
	"a caller with a token that has another last character": config.OtherEnd,
}

// planeSchemes are the schemes of callers that send credentials of the control plane to the agent server.
var planeSchemes = map[string]string{
	planeKeyCaller: SchemeAPIKey,
	"a caller with the tenant ID of the control plane":    SchemeTenantID,
	"a caller with the bearer token of the control plane": SchemeBearer,
}

// Owner returns the owner of the objects that scenarios create: the first user of the configuration. If there is none,
// the target has no authentication handler, and the owner is a caller without credentials.
func (t *Target) Owner() Caller {
	if len(t.Config.Users) == 0 {
		return Caller{name: TheUser}
	}
	return t.CallerWith("users.0")
}

// studioKey is the key of the credentials of the studio user.
const studioKey = "agent.studio_headers"

// UserKeys returns the configuration keys of a caller's credentials.
func (t *Target) UserKeys() (keys []string) {
	for i := range t.Config.Users {
		keys = append(keys, fmt.Sprintf("users.%d", i))
	}
	if len(t.Config.Agent.StudioHeaders) > 0 {
		keys = append(keys, studioKey)
	}
	return keys
}

// CallerWith returns the caller with the current credentials of a key. If the configuration does not have the key, it
// returns a caller without credentials.
func (t *Target) CallerWith(key string) Caller {
	at := slices.Index(t.UserKeys(), key)
	if at < 0 {
		return Caller{name: NoCredentials}
	}
	if key == studioKey {
		return Caller{name: StudioUser, Key: key, Header: config.HeaderOf(t.present().Agent.StudioHeaders)}
	}
	return Caller{name: key, Key: key, Header: t.present().Users[at].Header(), User: &t.Config.Users[at]}
}

// callerKeys are the keys of the callers with valid credentials.
var callerKeys = map[string]string{TheUser: "users.0", TheOtherUser: "users.1", SameIdentityUser: "users.2",
	StudioUser: studioKey}

// Caller returns the caller that a step names. If the configuration does not have it, the error skips the scenario.
func (t *Target) Caller(name string) (Caller, error) {
	key := callerKeys[name]
	mistake, isNearMiss := tokenMistakes[name]
	needsNoCredentials := key == "" && planeSchemes[name] == "" && !isNearMiss
	switch {
	case name == BlockedToken && t.Config.Agent.BlockedToken == "":
		return Caller{}, outcome.Needs("agent.blocked_token")
	case needsNoCredentials && (t.AgentRefusal() != 0 || len(t.Config.Users) > 0):
		return t.wrongCaller(name), nil
	case len(t.Config.Users) == 0:
		return Caller{}, outcome.Needs("users")
	case key != "" && !t.Config.Has(key):
		return Caller{}, outcome.Needs(key)
	case key != "":
		return t.CallerWith(key), nil
	case !isNearMiss:
		return t.planeCaller(name)
	}
	header := t.present().Users[0].NearMiss(mistake)
	if header == nil {
		key, _ = t.Config.CredentialOf(0)
		return Caller{}, outcome.Inapplicable(key, "this mistake does not change the credentials of the first user")
	}
	return Caller{name: name, Header: header}, nil
}

// MayLackCredentials reports whether a handler may treat the invalid credentials of the named caller as missing: the
// token is empty, or in a different scheme or header.
func MayLackCredentials(name string) bool {
	return name == emptyTokenCaller || name == otherSchemeCaller || planeSchemes[name] != ""
}

// planeCaller returns a caller with only a credential of the control plane. If the address of the agent server is known
// and the credentials must not be sent there, the error skips the scenario.
func (t *Target) planeCaller(name string) (Caller, error) {
	base := t.AgentAddress()
	if !t.Config.SeparateCredentials {
		return Caller{}, outcome.Needs("separate_credentials")
	}
	if base != "" && !t.takesPlaneCredentials(base) {
		return Caller{}, outcome.Needs("agent_target",
			": credentials of the control plane are sent only to addresses that the configuration names")
	}
	return Caller{name: name, Header: t.Credentials(Sender(planeSchemes[name]))}, nil
}

// takesPlaneCredentials reports whether credentials of the control plane may be sent to an agent server: the
// configuration names its address, or its origin is that of the control plane.
func (t *Target) takesPlaneCredentials(base string) bool {
	origin := config.Origin(base)
	return base == t.Config.AgentTarget || origin != "" && origin == config.Origin(t.Config.Target)
}

// UnknownCaller returns a caller with a token that no target accepts.
func (t *Target) UnknownCaller() Caller { return t.wrongCaller(UnknownToken) }

// wrongCaller returns a caller without valid credentials. They have the form of the first user's credentials, or are a
// bearer token.
func (t *Target) wrongCaller(name string) Caller {
	u := config.User{Token: wrongToken}
	if len(t.Config.Users) > 0 {
		u = t.present().Users[0]
	}
	if name == BlockedToken {
		return Caller{name: name, Header: u.WithToken(t.present().Agent.BlockedToken)}
	}
	return Caller{name: name, Header: wrongHeader(u, name)}
}

// wrongToken is a token that no target accepts. It is not a secret, and reports show it.
const wrongToken = "agentconform-unknown-token"

// currentHeader returns the header with the current credentials of a caller. Credentials may have been read again.
func (t *Target) currentHeader(who Caller) http.Header {
	if who.Key != "" {
		return t.CallerWith(who.Key).Header
	}
	if who.Header == nil {
		return http.Header{}
	}
	return who.Header.Clone()
}

// wrongHeader returns the header of a user with invalid credentials of a kind. For a different scheme, the token is valid
// and only the scheme is wrong.
func wrongHeader(u config.User, kind string) http.Header {
	h, token := u.Header(), ""
	switch kind {
	case NoCredentials:
		return http.Header{}
	case otherSchemeCaller:
		scheme, own, hasScheme := strings.Cut(h.Get("Authorization"), " ")
		if !hasScheme {
			own = wrongToken
		}
		if strings.EqualFold(scheme, "Basic") {
			return http.Header{"Authorization": {"Bearer " + own}}
		}
		return http.Header{"Authorization": {"Basic " + own}}
	case UnknownToken:
		token = wrongToken
	case emptyTokenCaller:
	default:
		panic("unknown caller: " + kind)
	}
	for name := range h {
		scheme := h.Get(name)[:strings.IndexByte(h.Get(name), ' ')+1]
		h.Set(name, scheme+token)
	}
	return h
}

// AgentRefuses records the status with which the agent server refuses callers without credentials.
func (t *Target) AgentRefuses(status int) { t.refusing.Store(int64(status)) }

// JudgeAgentAt sets the URL of the agent server under test, which the control plane returned.
func (t *Target) JudgeAgentAt(base string) {
	t.underTest.Store(&base)
	t.Progress(Event{Kind: Named, Name: base})
}

// AgentRefusal returns the status with which the agent server refuses callers without credentials. It returns 0 if that
// is unknown or a user is configured. With such a status, requirements that need no user are judged.
func (t *Target) AgentRefusal() int {
	if len(t.Config.Users) > 0 {
		return 0
	}
	return int(t.refusing.Load())
}

// AgentAddress returns the address of the agent server under test, or "" if it is not yet known.
func (t *Target) AgentAddress() string {
	named := t.underTest.Load()
	if named == nil {
		return t.Config.AgentTarget
	}
	return *named
}

// Refused returns a blocked outcome if the error means that no request may be sent to an address from the control plane.
// It returns any other error unchanged.
func Refused(t *Target, named string, err error) error {
	why, isRefused := errors.AsType[*exchange.RefusedAddress](err)
	if !isRefused {
		return err
	}
	blocked := outcome.Blocked("no user's token is sent to the agent server address that the deployment has at %s, %.200q: "+
		"%s; %s", t.Config.AgentURLFrom, t.Redact.Text(named), why, why.Remedy)
	if why.Key == "" {
		return blocked.By(reports.ByTarget, t.Config.Target)
	}
	return blocked.By(reports.ByKey, why.Key)
}

// ListsBySearch notes that the target serves the search endpoint and not GET /threads.
func (t *Target) ListsBySearch() { t.searches.Store(true) }

// Searches reports whether threads are listed with the search endpoint, by the configuration or else by ListsBySearch.
func (t *Target) Searches() bool {
	return t.Config.Agent.Listing == "search" || t.Config.Agent.Listing == "" && t.searches.Load()
}

// NotServed reports whether a response means that the server does not have the operation.
func NotServed(a *exchange.Response) bool { return IsNotServed(a.Status) }

// IsNotServed reports whether a status means that the server does not have the operation.
func IsNotServed(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// NoteListing adds a note if the response to GET /threads means that this operation of the interface is not served, or
// does not return an array.
func (t *Target) NoteListing(a *exchange.Response) {
	what := ""
	switch {
	case NotServed(a):
		what = strconv.Itoa(a.Status)
	case a.OK() && !a.IsArray():
		what = "no array"
	default:
		return
	}
	t.Note(reports.Note{Kind: reports.NoteListing, Exchange: a.ID,
		Text: fmt.Sprintf("GET /threads returns %s; threads are listed with POST /threads/search", what)})
}

// ListingHint returns the hint for a list without the expected thread.
func (t *Target) ListingHint() string {
	call, other := "GET /threads", "POST /threads/search"
	if t.Searches() {
		call, other = other, call
	}
	return "the suite sent " + call + "; if the target lists threads with " + other + ", set agent.listing"
}

// AdvertiseKey is the key of the URL at which the target's builder can fetch the fixtures.
const AdvertiseKey = "fixtures.advertise"

// Fixtures are the sources that the suite serves to the target's builder (key fixtures).
type Fixtures interface {
	Listening() string                 // address, "host:port"
	Advertised() string                // base URL for builders
	Contents() []string                // descriptions of the sources
	Fetched() int                      // number of requests of builders
	Reached(ctx context.Context) error // nil if this machine reaches the advertised URL
}

// Unfetched returns a text and a remedy if builders have fetched nothing from the fixtures. Both are "" otherwise, and if
// the suite serves no fixtures.
func (t *Target) Unfetched() (found, remedy string) {
	if t.Fixtures == nil || t.Fixtures.Fetched() > 0 {
		return "", ""
	}
	return "nothing was fetched from the fixtures at " + t.Fixtures.Advertised(),
		"set " + AdvertiseKey + " to a URL at which the target's builder reaches this machine"
}

// BlamingFixtures adds the text and remedy of Unfetched to an outcome, because then the target had no sources to build.
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

// RetryFor calls look until look is done or the time has passed, as [client.Repeat] does. A change that a target has
// accepted (202) may take effect later, and lists may show it even later.
func (t *Target) RetryFor(ctx context.Context, limit time.Duration, look func() (done bool, err error)) error {
	return client.Repeat(ctx, t.Config.Polling.Interval, t.Config.Polling.MaxInterval, time.Now().Add(limit), look)
}

// WaitSettleDelay waits until a change in the background would be visible.
func (t *Target) WaitSettleDelay(ctx context.Context, act *exchange.Response) error {
	return client.Sleep(ctx, t.SettleDelay(act))
}

// SettleDelay returns twice the time of the response. It returns more if the target has only accepted the request.
func (t *Target) SettleDelay(act *exchange.Response) time.Duration {
	wait := max(50*time.Millisecond, 2*act.Took)
	if act.Status == http.StatusAccepted {
		wait = max(wait, 500*time.Millisecond)
	}
	return min(wait, t.Config.Timeouts.Request)
}
