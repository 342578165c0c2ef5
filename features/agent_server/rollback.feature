@agent-server
Feature: Rolling back a run in progress
  A new run with multitask_strategy rollback replaces a run in progress on the same thread: the prior run is
  interrupted and deleted from storage, and the new run starts with its own input. The scenarios wait until the prior
  run has written a message, unless they are about a pending run.

  A conforming target may answer 404, 410 or any other 4xx for a run that was rolled back; refuse some of several
  rollbacks that arrive at one time.

  Background:
    Given a deployed agent server

  @AS-ROLLBACK-1 @must @section-3 @section-4 @slow
  Rule: A run with multitask_strategy rollback is accepted while another is in progress, and completes with its own input without waiting
    The run in progress has written a message before the new run is sent.

    Scenario: The new run neither is refused nor waits for the prior one
      Given a run in progress that has written
      When the user starts another run with rollback
      Then the new run is accepted
      And the state holds the run's input and its answer
      And it completes before the time of the prior run is over

  @AS-ROLLBACK-2 @must @section-3 @section-4 @section-7 @slow
  Rule: A run in progress that was rolled back can no longer be retrieved: GET is answered with an HTTP error status
    The run is looked for once the new run has completed. A run that had completed before the rollback was not in
    progress and is not judged here.

    Scenario: The prior run is not found
      Given a run that was rolled back after it had written
      When the user looks for the prior run
      Then the prior run is gone

  @AS-ROLLBACK-3 @must @section-3 @slow
  Rule: After a run in progress was rolled back, the thread state holds the messages of the new run only
    Nothing of the prior run may be left: neither its input nor what it had already written.

    Scenario: What the prior run had written is gone
      Given a run that was rolled back after it had written
      When the user reads the state of the thread
      Then the state holds the new run only

  @AS-ROLLBACK-4 @must @section-3 @section-4 @section-7 @slow
  Rule: A rolled-back run does not reappear after its natural end, neither under GET nor in the thread state
    Looked at when the prior run would have ended by itself.

    Scenario: Nothing of the prior run is there when its time is over
      Given a rollback that has removed a run
      When the user looks for the prior run and at the state after its time is over
      Then the prior run is gone
      And the state holds the new run only

  @AS-ROLLBACK-5 @must @section-3 @section-4 @section-7 @slow
  Rule: A pending run that was rolled back is answered with an HTTP error status on GET, and leaves nothing in the thread state
    Judged at once and again when the pending run would have ended by itself. A run may be pending for a short time
    after it was accepted. Where the target accepts multitask_strategy enqueue, which is not part of the interface, it
    is also pending behind another run.

    Scenario Outline: A run that made room <moment> is gone for good
      Given a rollback that has removed a run
      And a run that was rolled back <moment>
      When the user looks for the prior run and at the state
      And the user looks for the prior run and at the state after its time is over
      Then the prior run is gone
      And the state holds the new run only

      Examples:
        | moment                            |
        | as soon as it was accepted        |
        | while it waited behind another run |

  @AS-ROLLBACK-6 @must @section-3
  Rule: With no run in progress, a run with multitask_strategy rollback keeps the thread's completed runs and their messages
    Applies where plain runs keep the messages of earlier runs too (AS-STATE-3).

    Scenario: Completed runs and their messages stay
      Given a thread that keeps the messages of its completed runs
      When the user's next run on the thread, with rollback, completes
      Then the earlier runs are found
      And the thread holds the user's runs only

  @AS-ROLLBACK-7 @must @section-3 @slow
  Rule: A rollback leaves the runs of other threads unchanged, both completed ones and ones in progress

    Scenario: A completed run and a run in progress on other threads stay
      Given a rollback that has removed a run
      And a completed run and a run in progress on other threads of the user
      And a run in progress that has written
      When the user starts another run with rollback
      Then the runs on the other threads are found
      And they end with their own messages

  @AS-ROLLBACK-8 @must @section-3 @slow
  Rule: After several rollbacks on a thread one run is left, the last one if sent in sequence, and the state holds its messages only
    Of rollbacks at one time any run may be the one that is left, and some may be refused.

    Scenario: A chain of rollbacks leaves the last run
      Given a rollback that has removed a run
      When the user starts five runs with rollback, one after the other
      Then only the last of these runs is left
      And the state holds the messages of the run that is left only

    Scenario: Rollbacks at the same time leave one run
      Given a rollback that has removed a run
      When the user starts five runs with rollback, all at once
      Then exactly one of these runs is left
      And the state holds the messages of the run that is left only

  @AS-ROLLBACK-9 @should @section-3 @slow
  Rule: A pending join on a run that is rolled back returns
    Any answer or a closed connection counts, within timeouts.request after the new run has completed.

    Scenario: A join on a run that is rolled back does not hang
      Given a rollback that has removed a run
      And a run in progress that has written
      And the user waits in a join for it
      When the user starts another run with rollback
      Then the join on the prior run is released
