package independent

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIntendedFlow(t *testing.T) {
	for _, opts := range []Options{{}, {Edition: SelfHosted}, {Prefix: "/some/box"}, {Jitter: 5 * time.Millisecond}} {
		t.Run(fmt.Sprintf("%+v", opts), func(t *testing.T) {
			s := start(t, opts)
			c := s.owner(t)
			assert.Equal(t, 422, c.do("POST", "/v2/deployments", s.RefusedBody("no")).status)
			first, second, patch := s.Sources.Main, s.Sources.Second, "repo_ref"
			if opts.Edition == SelfHosted {
				first, second, patch = s.Sources.Image, s.Sources.SecondImage, "image_uri"
			}
			d := c.create(s.Facts, first)
			rev := c.settled(d)
			assert.Equal(t, deployed, rev.get("status").String())
			assert.Equal(t, s.Sources.Commits[first], rev.get("source_revision_config.repo_commit_sha").String())
			created, err := time.Parse(time.RFC3339Nano, rev.get("created_at").String())
			require.NoError(t, err)
			updated, err := time.Parse(time.RFC3339Nano, rev.get("updated_at").String())
			require.NoError(t, err)
			assert.False(t, updated.Before(created))

			agent := s.user(t, 0)
			agent.base = c.do("GET", d, nil).get(s.AgentURLField).String()
			thread := agent.thread()
			agent.do("GET", agent.run(thread, "hello", "")+"/join", nil)
			assert.Equal(t, []string{"human: hello", "ai: First voice says <<hello>>, over & out"}, agent.contents(thread))

			up := c.do("PATCH", d, object{"source_revision_config": object{patch: second}})
			assert.Equal(t, http.StatusCreated, up.status)
			assert.Equal(t, second, up.get("source_revision_config."+patch).String())
			assert.Equal(t, deployed, c.settled(d).get("status").String())
			agent.do("GET", agent.run(thread, "again", "")+"/join", nil)
			assert.Contains(t, agent.contents(thread), "ai: Second voice says <<again>>, over & out")
			assert.Equal(t, first, c.do("GET", d+"/revisions/"+rev.get("id").String(), nil).get("source_revision_config."+patch).String())
		})
	}
}

func TestWhatCannotBeBuilt(t *testing.T) {
	s := start(t, Options{})
	for _, ref := range []string{s.Sources.Broken, "no-such-branch", "refs/heads/" + s.Sources.Main} {
		rev := s.owner(t).settled(s.owner(t).create(s.Facts, ref))
		assert.Equal(t, "BUILD_FAILED", rev.get("status").String(), ref)
	}
	hosted := start(t, Options{Edition: SelfHosted})
	c := hosted.owner(t)
	assert.Equal(t, "DEPLOY_FAILED", c.settled(c.create(hosted.Facts, hosted.Sources.BrokenImage)).get("status").String())
}

func TestCredentials(t *testing.T) {
	s := start(t, Options{})
	d := s.owner(t).create(s.Facts, s.Sources.Main)
	for _, tc := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"nothing", nil, 403},
		{"unknown key", []string{"X-Api-Key", "nobody"}, 403},
		{"blank key", []string{"X-Api-Key", " "}, 403},
		{"unknown bearer", []string{"Authorization", "Bearer nobody"}, 403},
		{"bearer token as basic", []string{"Authorization", "Basic " + s.Owner.Bearer}, 403},
		{"tenant alone", []string{s.TenantHeader, s.Owner.TenantID}, 403},
		{"key with a foreign tenant", []string{"X-Api-Key", s.Owner.APIKey, s.TenantHeader, s.Other.TenantID}, 403},
		{"key", []string{"X-Api-Key", s.Owner.APIKey}, 200},
		{"key and tenant", []string{"X-Api-Key", s.Owner.APIKey, s.TenantHeader, s.Owner.TenantID}, 200},
		{"bearer", []string{"Authorization", "Bearer " + s.Owner.Bearer}, 200},
		{"another tenant", []string{"X-Api-Key", s.Other.APIKey}, 404},
		{"another tenant's bearer", []string{"Authorization", "Bearer " + s.Other.Bearer}, 404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newClient(t, s.ControlURL, tc.headers...)
			assert.Equal(t, tc.status, c.do("GET", d, nil).status)
			if tc.status == 403 {
				a := c.do("GET", "/v2/deployments/no-uuid/revisions?limit=0", nil)
				assert.Equal(t, 403, a.status, "a refusal tells nothing")
				assert.Contains(t, a.header.Get("Content-Type"), "text/plain")
			}
		})
	}
}

func TestRefusedBodies(t *testing.T) {
	s := start(t, Options{})
	c := s.owner(t)
	d := c.create(s.Facts, s.Sources.Main)
	c.settled(d)
	for body, loc := range map[string]string{
		``: "body", `{`: "body", `[]`: "body", `null`: "body", `{} {}`: "body",
		`{}`: "source", `{"source":7}`: "source", `{"source":"elsewhere"}`: "source", `{"source":"external_container"}`: "source",
		`{"source":"git_host","name":1}`:                                     "name",
		`{"source":"git_host","source_config":[]}`:                           "source_config",
		`{"source":"git_host","source_config":{"build_on_push":"yes"}}`:      "build_on_push",
		`{"source":"git_host","source_revision_config":{"repo_ref":5}}`:      "repo_ref",
		`{"source":"git_host","source_revision_config":{"image_uri":"a:b"}}`: "image_uri",
		`{"source":"git_host","secrets":[3]}`:                                "secrets",
	} {
		a := c.do("POST", "/v2/deployments", body)
		assert.Equal(t, 422, a.status, body)
		assert.Contains(t, a.get("detail.0.loc").String(), loc, body)
		assert.True(t, a.get("detail.0.msg").Exists() && a.get("detail.0.type").Exists(), body)
	}
	for _, body := range []string{`{"source_revision_config":{"repo_ref":false}}`, `{"source_config":{"build_on_push":1}}`, `"x"`,
		`{"source_revision_config":{"image_uri":"a:b"}}`} {
		assert.Equal(t, 422, c.do("PATCH", d, body).status, body)
	}
	assert.Equal(t, 409, c.do("PATCH", d, `{"source":"internal_container","source_revision_config":{"repo_ref":"trunk"}}`).status)
	assert.Equal(t, int64(1), c.do("GET", d+"/revisions", nil).get("total").Int())
	for _, method := range []string{"DELETE", "PUT", "PAT"} {
		assert.Equal(t, 405, c.do(method, d, nil).status)
	}
}

func TestUpdatesWithoutRevision(t *testing.T) {
	s := start(t, Options{})
	c := s.owner(t)
	d := c.create(s.Facts, s.Sources.Main)
	c.settled(d)
	for _, body := range []string{`{}`, `{"source_config":{"build_on_push":true}}`, `{"source_config":null,"source_revision_config":null}`,
		`{"source_revision_config":{"repo_ref":null,"graph_config_path":null,"image_uri":null,"repo_commit_sha":"x"}}`,
		`{"id":"x","latest_revision_id":5,"source":"git_host"}`} {
		assert.Equal(t, 200, c.do("PATCH", d, body).status, body)
	}
	assert.Equal(t, int64(1), c.do("GET", d+"/revisions", nil).get("total").Int())
	assert.True(t, c.do("GET", d, nil).get("source_config.build_on_push").Bool())
}

func TestTagRule(t *testing.T) {
	s := start(t, Options{})
	c := s.owner(t)
	body := s.CreateBody("tagged", s.Sources.Tag)
	body["source_config"].(map[string]any)["build_on_push"] = true
	a := c.do("POST", "/v2/deployments", body)
	assert.Equal(t, 202, a.status)
	d := "/v2/deployments/" + a.get("id").String()
	shown := func() bool { return c.do("GET", d, nil).get("source_config.build_on_push").Bool() }
	assert.False(t, shown())
	c.do("PATCH", d, `{"source_config":{"build_on_push":true}}`)
	assert.False(t, shown())
	c.do("PATCH", d, `{"source_config":{"build_on_push":true},"source_revision_config":{"repo_ref":"trunk"}}`)
	assert.True(t, shown())
	c.do("PATCH", d, object{"source_revision_config": object{"repo_ref": s.Sources.Tag}})
	assert.False(t, shown())
}

func TestListing(t *testing.T) {
	s := start(t, Options{})
	c := s.owner(t)
	d := c.create(s.Facts, s.Sources.Broken)
	for range 24 {
		c.do("PATCH", d, object{"source_revision_config": object{"graph_config_path": s.Sources.OtherConfig}})
	}
	c.do("PATCH", d, object{"source_revision_config": object{"repo_ref": s.Sources.Main}})
	c.settled(d)
	list := d + "/revisions"
	require.Eventually(t, func() bool {
		return c.do("GET", list+"?status=BUILD_FAILED", nil).get("total").Int() == 25
	}, 10*time.Second, 5*time.Millisecond)
	assert.Len(t, c.do("GET", list, nil).get("resources").Array(), 20)
	assert.Len(t, c.do("GET", list+"?status=DEPLOYED,BUILD_FAILED&limit=100", nil).get("resources").Array(), 26)
	assert.Equal(t, int64(1), c.do("GET", list+"?remote_reconciled=true", nil).get("total").Int())
	assert.Equal(t, int64(25), c.do("GET", list+"?remote_reconciled=false", nil).get("total").Int())
	assert.Equal(t, "[]", c.do("GET", list+"?offset=99999999999999999999", nil).get("resources").String())

	seen, offset := map[string]bool{}, "0"
	for len(seen) < 26 {
		page := c.do("GET", list+"?limit=7&offset="+offset, nil)
		require.NotEmpty(t, page.get("resources").Array())
		for _, rev := range page.get("resources").Array() {
			require.False(t, seen[rev.Get("id").String()])
			seen[rev.Get("id").String()] = true
			assert.Equal(t, strconv.Itoa(27-len(seen)), rev.Get("number").String(), "newest first")
		}
		offset = page.get("offset").String()
	}
	for query, name := range map[string]string{
		"limit=0": "limit", "limit=101": "limit", "limit=-1": "limit", "limit=1.5": "limit", "limit=": "limit", "limit=x": "limit",
		"limit=99999999999999999999": "limit", "offset=-1": "offset", "offset=1.0": "offset", "offset=": "offset",
		"status=NONE": "status", "status=": "status", "status=DEPLOYED,": "status", "remote_reconciled=perhaps": "remote_reconciled",
	} {
		a := c.do("GET", list+"?"+query, nil)
		assert.Equal(t, 422, a.status, query)
		assert.Equal(t, name, a.get("detail.0.loc.0").String(), query)
	}
	assert.Len(t, c.do("GET", list+"?limit=0&offset=-1", nil).get("detail").Array(), 2)
	unknown := uuid.NewString()
	a := c.do("GET", "/v2/deployments/"+unknown+"/revisions", nil)
	assert.Equal(t, 404, a.status)
	assert.Contains(t, a.get("detail").String(), unknown)
	assert.Equal(t, 404, c.do("GET", list+"/"+unknown, nil).status)
	for _, id := range []string{"x", "..%2F..", "%7B" + unknown + "%7D", unknown + "0"} {
		assert.Equal(t, 422, c.do("GET", "/v2/deployments/"+id+"/revisions", nil).status, id)
	}
}

func TestWire(t *testing.T) {
	s := start(t, Options{BusyEvery: 3, Extras: true})
	c := s.owner(t)
	busy := 0
	for range 12 {
		a := c.do("POST", "/v2/deployments", s.CreateBody("many", s.Sources.Main))
		if a.status == 429 || a.status == 503 {
			assert.NotEmpty(t, a.header.Get("Retry-After"))
			busy++
			continue
		}
		assert.Equal(t, "Application/JSON; Charset=UTF-8", a.header.Get("Content-Type"))
	}
	assert.Equal(t, 4, busy)
	s.served.Store(0)
	all := c.do("GET", "/v2/deployments?name_contains=many", nil)
	assert.Len(t, all.get("resources").Array(), 8, "a busy server does nothing")
	d := "/v2/deployments/" + all.get("resources.0.id").String()
	assert.Equal(t, 204, c.do("DELETE", d, nil).status)
	s.served.Store(0)
	assert.Equal(t, 404, c.do("GET", d, nil).status)

	s.opts.BusyEvery = 1 << 30
	c.headers["Accept-Encoding"] = "gzip"
	assert.Equal(t, "gzip", c.do("GET", "/v2/deployments/"+strings.Repeat("0", 8)+"/a", nil).header.Get("Content-Encoding"))
	for _, plain := range []string{"identity", "gzip;q=0"} {
		c.headers["Accept-Encoding"] = plain
		a := c.do("GET", "/v2/elsewhere", nil)
		assert.Empty(t, a.header.Get("Content-Encoding")+a.header.Get("Content-Length"), "in chunks, as it is")
		assert.Contains(t, a.text, `"There is nothing at \/v2\/elsewhere"`)
	}
	for _, wrong := range []Options{{Edition: "moon"}, {BusyEvery: 1}, {RefusedStatus: 500}} {
		_, err := Start(wrong)
		assert.Error(t, err)
	}
}
