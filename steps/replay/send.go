package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// Step is one exchange that was sent again.
type Step struct {
	Was         reports.Exchange
	URL         string // as it was sent now, without secrets
	Status      int    // 0 when no answer came
	Error       string
	Differences []string // "/status: was "a", is now "b""; ids and times do not count
}

// Same tells whether the answer was the recorded one, but for ids and times.
func (s Step) Same() bool {
	return s.Error == s.Was.Error && s.Status == s.Was.Status && len(s.Differences) == 0
}

// Sender sends exchanges to a target.
type Sender struct {
	Config *config.Config
	// Recorded are the addresses that the exchanges were sent to; each is replaced by that of the configuration.
	Recorded reports.Target

	client *client.Client
	redact *client.Redactor
	places config.SecretPlaces
	words  [][2]string // what is replaced, the newest first
	named  []string    // origins of agent servers that the target has named in this replay
}

// patience bounds how long a status may take to become the recorded one.
const patience = 30 * time.Second

// longestGap is how long a pause between two exchanges is kept at most.
const longestGap = 2 * time.Second

// Send sends the plan in order and compares each answer. The error is that of the context, or of a secret that is
// not configured; a target that does not answer is a difference.
func (s *Sender) Send(ctx context.Context, plan []reports.Exchange, each func(Step)) error {
	s.prepare()
	defer s.client.Close()
	for i, x := range plan {
		if i > 0 {
			gap := time.Duration(x.AtMS-plan[i-1].AtMS) * time.Millisecond
			if err := client.Sleep(ctx, min(max(gap, 0), longestGap)); err != nil {
				return err
			}
		}
		step, err := s.send(ctx, x)
		if err != nil {
			return err
		}
		each(step)
	}
	return nil
}

func (s *Sender) prepare() {
	s.client, s.redact, s.places = client.New(1), client.NewRedactor(s.Config.Secrets()), s.Config.SecretPlaces()
	for _, pair := range [][2]string{
		{s.Recorded.ControlPlane, s.Config.Target}, {s.Recorded.AgentServer, s.Config.AgentTarget},
		{origin(s.Recorded.ControlPlane), origin(s.Config.Target)},
	} {
		if pair[0] != "" && pair[1] != "" {
			s.words = append(s.words, pair)
		}
	}
}

func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func (s *Sender) send(ctx context.Context, x reports.Exchange) (Step, error) {
	request, err := s.request(x)
	if err != nil {
		return Step{}, err
	}
	if err := s.mayHaveSecrets(request.Base); err != nil {
		return Step{}, err
	}
	step := Step{Was: x, URL: s.redact.Text(request.Base)}
	for start := time.Now(); ; {
		a, err := s.client.Do(ctx, request)
		var none *client.NoAnswer
		var busy *client.Busy
		switch {
		case errors.As(err, &busy):
			step.Error = busy.Told()
			return step, nil
		case errors.As(err, &none):
			step.Error = none.Cause
			return step, nil
		case err != nil:
			return step, err
		}
		now := s.redact.Text(string(a.Body))
		if waits(x, a) && time.Since(start) < patience {
			if err := client.Sleep(ctx, 100*time.Millisecond); err != nil {
				return step, err
			}
			continue
		}
		step.Status = a.Status
		s.learn(x.Response.Body, now)
		s.learnAddress(request, x, a)
		step.Differences = differences(x.Response.Body, s.replaced(now, true))
		return step, nil
	}
}

// waits tells whether a revision or run has not yet got as far as it had when it was recorded.
func waits(x reports.Exchange, a *client.Answer) bool {
	was, is := statusIn(x.Response.Body), a.Get("status")
	return x.Method == http.MethodGet && x.Status == a.Status && final(was) && is.Type == gjson.String && !final(is.Str)
}

// request puts an exchange together again, with the secrets that the report left out. A secret goes only where the
// configuration puts that very secret: what a result file says, which may come from anywhere, never decides that.
func (s *Sender) request(x reports.Exchange) (client.Request, error) {
	r := client.Request{Method: x.Method, Base: s.replaced(x.URL, false), Header: http.Header{}, Timeout: s.Config.Timeouts.Request}
	toPlane := s.Config.Target != "" && strings.HasPrefix(r.Base, s.Config.Target+"/v2/deployments")
	for name, values := range x.Request.Headers {
		for _, v := range values {
			value, err := s.places.Header(toPlane, name, v)
			if err != nil {
				return r, err
			}
			r.Header[name] = append(r.Header[name], value)
		}
	}
	if x.Request.Body != "" {
		body := s.replaced(x.Request.Body, false)
		if toPlane {
			body = s.places.Body(body)
		}
		r.Body = []byte(body)
	}
	return r, nil
}

// replaced puts the target's own words for recorded ones, or, backwards, the recorded ones for its own.
func (s *Sender) replaced(text string, backwards bool) string {
	for _, pair := range s.words {
		if backwards {
			text = strings.ReplaceAll(text, pair[1], pair[0])
		} else {
			text = strings.ReplaceAll(text, pair[0], pair[1])
		}
	}
	return text
}

// mayHaveSecrets holds a request to the addresses of the configuration, and those that its target has named: a result
// file may come from anywhere, and its requests are sent with the user's credentials.
func (s *Sender) mayHaveSecrets(address string) error {
	at := origin(address)
	if at != "" && slices.Contains(append([]string{origin(s.Config.Target), origin(s.Config.AgentTarget)}, s.named...), at) {
		return nil
	}
	return fmt.Errorf("the exchange was recorded at %.200q, which is no address of the configuration: no credentials are sent there; if it is an agent server, configure agent_target", s.redact.Text(address))
}

// learnAddress takes in where the control plane says that an agent server is now, and puts it in the place of where
// that was.
func (s *Sender) learnAddress(request client.Request, x reports.Exchange, a *client.Answer) {
	if s.Config.AgentTarget != "" || origin(request.Base) != origin(s.Config.Target) {
		return
	}
	base, err := client.NamedBy(s.Config.Target, a.Get(s.Config.AgentURLFrom).String())
	if err != nil {
		return
	}
	s.client.Guard(s.Config.Target, base)
	s.named = append(s.named, origin(base))
	pair := [2]string{strings.TrimRight(textAt(x.Response.Body, s.Config.AgentURLFrom), "/"), base}
	if pair[0] != "" && pair[0] != base && !slices.Contains(s.words, pair) {
		s.words = append([][2]string{pair}, s.words...)
	}
}

func textAt(body, path string) string {
	if !json.Valid([]byte(body)) {
		return ""
	}
	return gjson.Get(body, path).String()
}

// learn finds the ids that came back differently.
func (s *Sender) learn(was, is string) {
	old, now := idsIn(was), idsIn(is)
	for i := range min(len(old), len(now)) {
		pair := [2]string{old[i], now[i]}
		if old[i] != now[i] && !slices.Contains(s.words, pair) {
			s.words = append([][2]string{pair}, s.words...)
		}
	}
}
