package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
)

// TestListingByDefault judges servers that list threads with one endpoint only, and configurations that name none or
// one.
func TestListingByDefault(t *testing.T) {
	for name, c := range map[string]struct {
		server, listing string
		verdict         reports.Conclusion
		note            string
		tested          string // method of the listing
	}{
		"by default, 405":  {"list-threads-is-405", "", reports.Conformant, "GET /threads is answered with 405; threads are listed with POST /threads/search", "POST"},
		"by default, 404":  {"list-threads-is-404", "", reports.Conformant, "GET /threads is answered with 404; threads are listed with POST /threads/search", "POST"},
		"search, 405":      {"list-threads-is-405", "search", reports.Conformant, "GET /threads is answered with 405; threads are listed with POST /threads/search", "POST"},
		"get, 405":         {"list-threads-is-405", "get", reports.NonConformant, "", "GET"},
		"by default, both": {"threads-oldest-first", "", reports.Conformant, "", "GET"},
		"search, both":     {"threads-oldest-first", "search", reports.Conformant, "", "POST"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, cfg := startAgent(t, withFaults(t, c.server))
			cfg.Agent.Listing = c.listing
			require.NoError(t, cfg.Complete())
			only := []string{"AS-THREAD-*", "AS-CONTRACT-list-threads"}
			if c.listing == "search" {
				only = append(only, "AS-AUTH-1") // asks the other endpoint too
			}
			r := judge(t, cfg, only...)
			assert.Equal(t, c.verdict, r.Verdict, r.Headline)
			notes := notesOf(r, reports.NoteListing)
			if c.note == "" {
				assert.Empty(t, notes)
			} else {
				require.Len(t, notes, 1)
				assert.Equal(t, c.note, notes[0].Text)
				x, err := r.Exchange(notes[0].Exchange)
				require.NoError(t, err)
				assert.Equal(t, "GET", x.Method)
				assert.True(t, strings.HasSuffix(x.URL, "/threads"), x.URL)
				assert.GreaterOrEqual(t, x.Status, 404)
			}
			for _, q := range r.Requirements {
				for _, s := range q.Scenarios {
					if s.Name == "A new thread is in the list" {
						x, err := r.Exchange(s.Exchanges[len(s.Exchanges)-1])
						require.NoError(t, err)
						assert.Equal(t, c.tested, x.Method)
					}
				}
			}
		})
	}
}

// TestOwnTokenIsNoted judges a server whose runs hold the caller's token. The report says so, and shows none.
func TestOwnTokenIsNoted(t *testing.T) {
	t.Parallel()
	_, cfg := startAgent(t, withFaults(t, "answers-hold-the-token"))
	r := judge(t, cfg, "AS-RUN-*", "AS-STATE-*", "AS-ROLLBACK-*")
	assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
	notes := notesOf(r, reports.NoteOwnToken)
	require.Len(t, notes, 1)
	const pointer = "/kwargs/config/configurable/graph_auth_user/token"
	assert.Equal(t, pointer, notes[0].Pointer)
	shown := 0
	for _, x := range r.Exchanges {
		if strings.Contains(x.Response.Body, `"token":"$AGENTCONFORM_USERS_`) {
			shown++
		}
	}
	assert.Greater(t, shown, 50)
	assert.InDelta(t, shown, notes[0].Count, 0.1, "an answer counts once")
	x, err := r.Exchange(notes[0].Exchange)
	require.NoError(t, err)
	assert.Contains(t, x.Response.Body, `"token":"$AGENTCONFORM_USERS_`)
	var shownToUser bytes.Buffer
	require.NoError(t, console.Write(&shownToUser, r, console.Options{}))
	assert.Regexp(t, `NOTES \(1\): .*\n  an answer contains the caller's own token in clear \((\d+ times; )?exchange \d+, at `+pointer+`\)\n`, shownToUser.String())
	assert.NotContains(t, shownToUser.String(), cfg.Users[0].Token)
}
