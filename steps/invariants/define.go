package invariants

import (
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// The sentences of the invariants, without the half of the target.
const (
	idsOfPlane      = `each answer of the control plane has the id of its request`
	idsOfAgent      = `each answer of the agent server has the id of its request`
	closedPlane     = `no control-plane request without valid credentials was answered with 2xx`
	closedAgent     = `no agent-server request without valid credentials was answered with 2xx`
	handlerRefuses  = `each refusal of the authentication handler has its status and detail`
	asSent          = `each read of a revision shows what was sent for it`
	asNamed         = `each read of a deployment shows the source_revision_config of the revision that it names as latest`
	asBefore        = `each read of a revision shows the fields of the one before that its update did not name`
	staysDeployed   = `no revision was seen with another status after it was DEPLOYED while none was later`
	revisionOfRef   = `no update of "repo_ref" in this run was served and created no revision`
	revisionOfPath  = `no update of "graph_config_path" in this run was served and created no revision`
	revisionOfImage = `no update of "image_uri" in this run was served and created no revision`
	reachDeployed   = `no deployment that this run has waited for stayed without reaching DEPLOYED`
	readsFollow     = `each read shows what was written before, once the configured patience is over`
	planeTraces     = `no refusal of the control plane holds a stack trace`
	agentTraces     = `no refusal of the agent server holds a stack trace`
	apart           = `no answer to one caller holds an id or a text of another user`
	rolledBack      = `no answer after a rollback holds the id or the text of the prior run`
)

// toldBy are the requirements that tell the same as an invariant: where one of them has failed, the invariant adds nothing. A star
// stands for any rest.
var toldBy = map[string][]string{
	idsOfPlane:      {"CP-GET-1", "CP-REV-1", "CP-CREATE-*", "CP-UPDATE-*", "CP-POLL-*"},
	idsOfAgent:      {"AS-RUN-*", "AS-ROLLBACK-*"},
	closedPlane:     {"CP-AUTH-*"},
	closedAgent:     {"AS-AUTH-*"},
	handlerRefuses:  {"AS-AUTH-*"},
	asSent:          {"CP-CREATE-*", "CP-UPDATE-*", "CP-REV-*", "CP-POLL-*", "CP-LIST-*"},
	asNamed:         {"CP-CREATE-*", "CP-UPDATE-*", "CP-GET-*", "CP-REV-*", "CP-POLL-*"},
	asBefore:        {"CP-UPDATE-*", "CP-REV-*", "CP-POLL-*", "CP-LIST-*"},
	staysDeployed:   {"CP-POLL-*", "CP-LIST-*", "CP-REV-*", "CP-UPDATE-*", "CP-CREATE-*"},
	revisionOfRef:   {"CP-UPDATE-1"},
	revisionOfPath:  {"CP-UPDATE-2"},
	revisionOfImage: {"CP-UPDATE-3"},
	reachDeployed:   {"CP-POLL-1"},
	readsFollow:     {"CP-CREATE-1", "CP-GET-1", "CP-REV-1", "CP-UPDATE-1", "CP-UPDATE-2", "CP-UPDATE-3"},
	apart:           {"AS-AUTHZ-*"}, // only where they show the leak itself, see isolation.toldBy
	rolledBack:      {"AS-ROLLBACK-*"},
}

// advisory are the sentences of SHOULDs. A SHOULD that has failed says enough for these, and not for the others.
var advisory = map[string]bool{asBefore: true, staysDeployed: true, planeTraces: true, agentTraces: true}

// world is one scenario.
type world struct {
	target *target.Target
	record *Record
}

// Define registers the sentences for one scenario.
func Define(r *common.Definitions, t *target.Target, record *Record) {
	w := &world{t, record}
	r.When(`all exchanges of this run are read`, func() error { return nil })
	r.Then(`(each answer of the (?:control plane|agent server) has the id of its request)`, w.holds)
	r.Then(`(no (?:control-plane|agent-server) request without valid credentials was answered with 2xx)`, w.holds)
	for _, sentence := range []string{handlerRefuses, asSent, asNamed, asBefore, staysDeployed, revisionOfRef, revisionOfPath,
		revisionOfImage, reachDeployed, readsFollow, planeTraces, agentTraces, apart, rolledBack} {
		r.Then(`(`+sentence+`)`, w.holds)
	}
}

// holds judges an invariant. Where no answer could have shown a violation there is no evidence.
func (w *world) holds(sentence string) error {
	judged, err := w.record.outcome(sentence)
	if judged > 0 || err != nil {
		return err
	}
	return outcome.Inconclusive(noEvidence)
}

const noEvidence = "no answer in this run could have shown a violation"
