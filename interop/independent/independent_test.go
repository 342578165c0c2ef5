package independent

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/config"
)

// TestDifferences checks the differences from the reference on the wire, which are the purpose of this server.
func TestDifferences(t *testing.T) {
	for edition, refusal := range map[string]int{config.Cloud: 401, config.SelfHosted: 403} {
		r, c := Start(Options{Edition: edition}), config.Default()
		defer r.Close()
		require.NoError(t, r.Configure(&c))
		require.NotEqual(t, strings.Split(r.ControlURL, "/")[2], strings.Split(r.AgentURL, "/")[2], "each half has its own host")
		// do sends a request with the credentials of the owner and additional headers ("Name: value").
		do := func(method, url, body string, other ...string) (*http.Response, string) {
			request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
			require.NoError(t, err)
			owner := []string{"Accept-Encoding: identity", "X-Api-Key: " + c.Credentials.APIKey, "Authorization: Bearer " + Users[0].Token}
			for _, header := range append(owner, other...) {
				name, value, _ := strings.Cut(header, ": ")
				request.Header.Set(name, value)
			}
			a, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			text, err := io.ReadAll(a.Body)
			require.NoError(t, errors.Join(err, a.Body.Close()))
			return a, string(text)
		}
		a, text := do("POST", r.ControlURL+"/v2/deployments", `{"source":"internal_container"}`)
		assert.Equal(t, http.StatusAccepted, a.StatusCode)
		assert.Equal(t, "Application/JSON; Charset=UTF-8", a.Header.Get("Content-Type"))
		assert.Equal(t, []string{"chunked"}, a.TransferEncoding)
		assert.Contains(t, text, "\n\t\"détail\"")
		deployment := r.ControlURL + "/v2/deployments/" + gjson.Get(text, "id").Str
		a, text = do("DELETE", deployment, "")
		assert.Equal(t, http.StatusMethodNotAllowed, a.StatusCode, text)

		seen := map[string]bool{}
		for range 6 {
			do("PATCH", deployment, `{"source_revision_config":{"image_uri":"registry.invalid:5000/choir/parrot:2"}}`)
		}
		_, text = do("GET", deployment+"/revisions", "")
		for _, rev := range gjson.Get(text, "resources").Array() {
			created, err := time.Parse(time.RFC3339Nano, rev.Get("created_at").Str)
			require.NoError(t, err)
			_, offset := created.Zone()
			seen[rev.Get("status").Str], seen[created.Format("-07:00")] = true, true
			assert.Zero(t, offset%900)
		}
		assert.Greater(t, len(seen), 4, "statuses and zones: %v", seen)

		a, text = do("GET", deployment, "", "Accept-Encoding: gzip")
		assert.Equal(t, "gzip", a.Header.Get("Content-Encoding"))
		plain, err := gzip.NewReader(strings.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, plain.Close())

		a, text = do("POST", r.AgentURL+"/threads", "")
		assert.Equal(t, http.StatusCreated, a.StatusCode)
		assert.True(t, strings.HasPrefix(gjson.Get(text, "thread_id").Str, "thread~"), text)
		assert.Contains(t, text, `"api\/v7"`, "slashes are escaped")
		a, text = do("GET", r.AgentURL+"/threads", "", "Authorization: Bearer nobody")
		assert.Equal(t, refusal, a.StatusCode)
		assert.Equal(t, refusedDetail, text)
	}
}
