package steps

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// defineEndToEnd holds the sentences about a deployment and its agent server together (section 1).
func (w *World) defineEndToEnd(b *book) {
	b.configured(`a second source, whose graph answers differently`, w.aSecondSource)
	b.given(`the deployment was updated to the second source and is up again`, w.wasUpdated)
	b.when(`the user asks its agent server`, w.userAsksDeployment)
	b.when(`the user asks its agent server once more`, w.userAsksUntilNew)
	b.then(`the agent server answers`, w.agentAnswers)
	b.then(`the answer comes from the new revision`, w.answerIsNew)
}

func (w *World) aSecondSource() error {
	if change, key := w.run.anotherSource(); change == nil {
		return needs(key)
	}
	return nil
}

// askDeployment runs the graph of the deployment's agent server with the same words each time.
func (w *World) askDeployment(ctx context.Context) error {
	agent, err := w.run.agentOf(ctx, w.deployment)
	if err != nil {
		return err
	}
	t, err := agent.createThread(ctx, w.run.owner(), nil)
	if err == nil && t.id == "" {
		err = violated(t.answer, "a thread with a thread_id", "%s", seen(t.answer))
	}
	if err != nil {
		return err
	}
	g, err := agent.start(ctx, t, order{text: "agentconform " + w.run.ID + " asks the deployment."})
	if err != nil {
		return err
	}
	if w.answer, err = agent.await(ctx, g); err != nil {
		return err
	}
	w.current = g
	rest, _ := g.after(messagesOf(w.answer))
	said := ""
	if len(rest) > 0 {
		said = rest[len(rest)-1].text
	}
	w.answersOf = append(w.answersOf, said)
	return nil
}

// userAsksDeployment asks twice: only where the same revision gives the same answer, another answer tells of another
// revision.
func (w *World) userAsksDeployment(ctx context.Context) error {
	for range 2 {
		if err := w.askDeployment(ctx); err != nil {
			return w.unlessAgentsFail(ctx, err)
		}
	}
	if first, second := w.answersOf[0], w.answersOf[1]; first != second {
		return inconclusive("the graph answers the same words differently (%.60q, %.60q), so the answer does not tell the revision", first, second)
	}
	return nil
}

func (w *World) agentAnswers(ctx context.Context) error {
	return w.unlessAgentsFail(ctx, holdsAnswered(w.answer, w.current))
}

// unlessAgentsFail blocks what looks wrong where plain runs do not work on the agent server under test either.
func (w *World) unlessAgentsFail(ctx context.Context, wrong error) error {
	return unless(ctx, wrong, func(ctx context.Context) error {
		agent, err := w.run.agentServer(ctx)
		if err != nil {
			return err
		}
		return agent.plainRunsWork(ctx)
	})
}

func (w *World) wasUpdated(ctx context.Context) error {
	change, _ := w.run.anotherSource()
	if err := w.run.update(ctx, w.deployment, change); err != nil {
		return err
	}
	h, err := w.run.poll(ctx, w.deployment.id, w.deployment.latest(), w.run.done)
	if err != nil {
		return err
	}
	return w.run.deployed(h)
}

// userAsksUntilNew gives the target as long as one answer may take: what is DEPLOYED may still be on its way to the
// place where requests are handed on.
func (w *World) userAsksUntilNew(ctx context.Context) error {
	start := time.Now()
	for wait := w.run.config.Polling.Interval; ; wait = min(2*wait, w.run.config.Polling.MaxInterval) {
		if err := w.askDeployment(ctx); err != nil {
			return err
		}
		if w.answerIsNew(ctx) == nil || time.Since(start)+wait > w.run.config.Timeouts.Request {
			return nil
		}
		if err := client.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func (w *World) answerIsNew(ctx context.Context) error {
	if err := w.agentAnswers(ctx); err != nil {
		return err
	}
	if last := w.answersOf[len(w.answersOf)-1]; last == w.answersOf[0] {
		return violated(w.answer, "another answer than that of the first revision", "the same: %q", last).at("/values/messages").
			hinting("the second source (alternatives) must hold a graph that answers differently")
	}
	return nil
}
