package steps_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// TestATargetThatOnlyHangsUp is what is seen of a server that speaks TLS and is called without.
func TestATargetThatOnlyHangsUp(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(server.Close)
	c := config.Default()
	c.Target, c.Credentials.APIKey, c.Create.Body = server.URL, "some-key", map[string]any{"source": config.GitHost}
	require.NoError(t, c.Complete())
	res := judge(t, &c, func(o *steps.Options) { o.Select.Only = []string{"CP-GET-2"} })
	assert.Equal(t, reports.NonConformant, res.Verdict)
	assert.Equal(t, "no answer was HTTP: check the address "+server.URL+", and whether it is http or https", res.Headline)
}

func TestATargetThatSpeaksNoTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	c := config.Default()
	c.Target, c.Credentials.APIKey, c.Create.Body = strings.Replace(server.URL, "http:", "https:", 1), "some-key", map[string]any{"source": config.GitHost}
	require.NoError(t, c.Complete())
	res := judge(t, &c, func(o *steps.Options) { o.Select.Only = []string{"CP-GET-2"} })
	assert.Equal(t, reports.Incomplete, res.Verdict)
	assert.Regexp(t, "^"+c.Target+" does not answer: .*: use an http:// address$", res.Headline)
}
