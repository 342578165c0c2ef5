package independent

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/agentconform/agentconform/interop/independent/source"
)

// mostFetches bounds the builds that fetch at a time.
const mostFetches = 4

// build is what a revision was built to.
type build struct {
	end    string // status of the revision
	commit *string
	voice  string   // decorates the echo of the conformance graph
	graphs []string // names under which runs find it
	users  []User
}

// constant is a build that knows the server's users and its one graph.
func (s *Server) constant(voice string) build {
	return build{end: deployed, voice: voice, graphs: []string{assistantID}, users: s.Users}
}

// launch needs s.mu. The interface shows no transitions (section 3), so they differ from revision to revision, and every
// third is up before the answer is sent, unless its source is fetched.
func (s *Server) launch(d *deployment, rev *revision) {
	ways := [][]string{{"QUEUED", "UNKNOWN", "BUILDING"}, {"CREATING", "DEPLOYING"}, nil}
	way, made := ways[rev.n%len(ways)], func() build { return s.fetch(d, rev) }
	if s.opts.Clone {
		if len(way) == 0 {
			way = []string{"AWAITING_BUILD"}
		}
	} else {
		b := s.lookUp(d, rev)
		made = func() build { return b }
		if b.end != deployed {
			way = []string{"AWAITING_BUILD"}
		}
	}
	if len(way) == 0 {
		s.settle(d, rev, made())
		return
	}
	rev.status = way[0]
	s.work.Go(func() { s.follow(d, rev, way, made) })
}

// follow lets a revision go its way, and then ends it.
func (s *Server) follow(d *deployment, rev *revision, way []string, made func() build) {
	span := s.opts.BuildTime / time.Duration(len(way))
	for _, next := range way[1:] {
		if !pause(s.ctx, span) {
			return
		}
		s.mu.Lock()
		rev.status, rev.updated = next, time.Now()
		s.mu.Unlock()
	}
	if !pause(s.ctx, span) {
		return
	}
	b := made()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(d, rev, b)
}

// lookUp finds the build in the tables.
func (s *Server) lookUp(d *deployment, rev *revision) build {
	b := s.constant("Inner voice")
	known := true
	switch d.source {
	case sourceGit:
		path := orElse(rev.path, "")
		b.voice, known = voices[orElse(rev.ref, "")]
		if !known || d.repoURL != repoURL || path != mainGraph && path != otherGraph {
			b.end = "BUILD_FAILED"
		}
	case sourceExternal:
		if b.voice, known = voices[orElse(rev.image, "")]; !known {
			b.end = "DEPLOY_FAILED"
		}
	}
	if id, known := commits[orElse(rev.ref, "")]; known {
		b.commit = &id
	}
	return b
}

// fetch builds what the revision names. The graph itself is not run: the conformance graph of this server answers in its
// place, in a voice that tells the version, under the names and to the users that the source and its secrets have.
func (s *Server) fetch(d *deployment, rev *revision) build {
	s.turns <- struct{}{}
	defer func() { <-s.turns }()
	s.mu.Lock()
	secrets := maps.Clone(d.secrets)
	s.mu.Unlock()
	var tree *source.Tree
	var err error
	b := build{end: "BUILD_FAILED"}
	switch d.source {
	case sourceGit:
		if tree, err = source.Git(s.ctx, d.repoURL, orElse(rev.ref, "")); err == nil {
			b.commit = &tree.Version
		}
	case sourceExternal:
		b.end = "DEPLOY_FAILED"
		tree, err = source.Image(s.ctx, orElse(rev.image, ""))
	default:
		return build{end: "CREATE_FAILED"}
	}
	if err != nil {
		return b
	}
	if b.graphs, err = tree.Graphs(orElse(rev.path, "")); err != nil {
		return b
	}
	if b.users, err = usersOf(secrets); err != nil {
		return b
	}
	b.end, b.voice = deployed, "Version "+tree.Version
	return b
}

// usersOf reads the users as the handler of the conformance graph does.
func usersOf(secrets map[string]string) (users []User, err error) {
	if text := secrets["CONFORMANCE_USERS"]; text != "" {
		err = json.Unmarshal([]byte(text), &users)
	}
	return users, err
}

// settle needs s.mu. A revision that comes up late does not replace a newer one.
func (s *Server) settle(d *deployment, rev *revision, b build) {
	rev.status, rev.updated, rev.commit = b.end, time.Now(), b.commit
	if b.end != deployed || rev.n < d.live || s.byID[d.id] == nil {
		return
	}
	d.live = rev.n
	s.agents[d.slug] = d.agent
	d.agent.deploy(b)
}
