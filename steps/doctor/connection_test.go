package doctor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestExamineARedirect(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/new/") {
			http.Redirect(w, r, "/new"+r.URL.Path, http.StatusPermanentRedirect)
			return
		}
		guarded(respond(404, "application/json", notFound))(w, r)
	}))
	t.Cleanup(server.Close)
	e := examined(t, ofPlane(server.URL))
	assert.Regexp(t, `^note: GET .*: redirected to http://.*/new/v2/.*; requests other than GET are not sent there; set target to the base URL there$`, e.on("redirect"))
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/api"+r.URL.Path, http.StatusMovedPermanently)
	}))
	t.Cleanup(elsewhere.Close)
	e = examined(t, ofPlane(elsewhere.URL))
	assert.Regexp(t, `^problem: .* status 301, redirect to "https://elsewhere.example/api/v2/.*"; if that is the target, set target to its base URL$`, e.on("control plane"))
}

func TestExamineTheClock(t *testing.T) {
	t.Parallel()
	for by, says := range map[time.Duration]string{
		-time.Hour:       `^note: GET .*: Date is .*, (1h0m|59m59s|1h0m1s)[0s]* behind the clock of this machine; set both clocks by NTP`,
		2 * time.Hour:    `^note: GET .*: Date is .*, (2h0m|1h59m59s)[0s]* ahead of the clock of this machine`,
		10 * time.Second: `^$`,
	} {
		server := httptest.NewServer(guarded(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
			respond(404, "application/json", notFound)(w, r)
		}))
		t.Cleanup(server.Close)
		assert.Regexp(t, says, examined(t, ofPlane(server.URL)).on("clock"))
	}
}

// TestAddressesThatAreRefusedAreTold: before a run, with the key that allows them.
func TestAddressesThatAreRefusedAreTold(t *testing.T) {
	const id, revision = "6f9619ff-8b86-4011-b42d-00c04fc964ff", "6f9619ff-8b86-4011-b42d-00c04fc964fe"
	server := httptest.NewServer(guarded(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, id):
			_, _ = io.WriteString(w, `{"id":"`+id+`","latest_revision_id":"`+revision+`","source_config":{"custom_url":"http://169.254.169.254/a"}}`)
		case strings.HasSuffix(r.URL.Path, revision):
			_, _ = io.WriteString(w, `{"id":"`+revision+`","status":"DEPLOYED"}`)
		case strings.Contains(r.URL.Path, id):
			_, _ = io.WriteString(w, `{"resources":[{"id":"`+revision+`","status":"DEPLOYED"}],"offset":0}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, notFound)
		}
	}))
	t.Cleanup(server.Close)
	c := ofPlane(server.URL)
	c.Create.Body, c.Existing.Deployment, c.AllowPrivate = nil, id, true
	var told []string
	for _, check := range examined(t, c).Checks {
		told = append(told, fmt.Sprintf("%s: %s; %s", check.State, check.Found, check.Remedy))
	}
	all := strings.Join(told, "\n")
	assert.Contains(t, all, `note: no user's token is sent to the agent server address that the deployment has at source_config.custom_url, "http://169.254.169.254/a": it is a multicast`)
	assert.Contains(t, all, "set agent_target if it is right")
}
