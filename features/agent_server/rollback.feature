@agent-server
Feature: Rolling back a run in progress
  A new run with the multitask strategy rollback takes the place of a run in progress: the prior run is interrupted
  and deleted from storage, and the new one starts with its own input. Only a run that has really begun can show
  whether this is so: the scenarios wait until it has written a message. (interface, sections 3 and 7)

  Background:
    Given a deployed agent server

  @AS-ROLLBACK-1 @must @section-3 @slow
  Rule: The new run is accepted while the prior one is in progress, and completes with its own input

    Scenario: The new run neither is refused nor waits for the prior one
      Given a run in progress that has written
      When the user starts another run with rollback
      Then the new run is accepted
      And the state holds the run's input and its answer
      And it completes before the time of the prior run is over

  @AS-ROLLBACK-2 @must @section-3 @section-7 @slow
  Rule: The prior run is gone

    Scenario: The prior run is not found
      Given a run that was rolled back after it had written
      When the user looks for the prior run
      Then the prior run is gone

  @AS-ROLLBACK-3 @must @section-3 @slow
  Rule: The state after the new run holds the data of the new run only

    Scenario: What the prior run had written is gone
      Given a run that was rolled back after it had written
      When the user reads the state of the thread
      Then the state holds the new run only

  @AS-ROLLBACK-4 @must @section-3 @slow
  Rule: The prior run never comes back

    Scenario: Nothing of the prior run is there when its time is over
      Given a rollback that has removed a run
      When the user looks for the prior run and at the state after its time is over
      Then the prior run is gone
      And the state holds the new run only

  @AS-ROLLBACK-5 @must @section-3 @slow
  Rule: The same holds where the prior run was still pending
    A run may be pending for a moment after it was accepted. It is pending for longer behind another one, where the
    target can be asked to let it wait.

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
  Rule: With nothing in progress a run with rollback is a plain run

    Scenario: Completed runs and their messages stay
      Given a thread that keeps the messages of its completed runs
      When the user's next run on the thread, with rollback, completes
      Then the earlier runs are found
      And the thread holds the user's runs only

  @AS-ROLLBACK-7 @must @section-3 @slow
  Rule: The runs of other threads are untouched

    Scenario: A completed run and a run in progress on other threads stay
      Given a rollback that has removed a run
      And a completed run and a run in progress on other threads of the user
      And a run in progress that has written
      When the user starts another run with rollback
      Then the runs on the other threads are found
      And they end with their own messages

  @AS-ROLLBACK-8 @must @section-3 @slow
  Rule: Of several rollbacks only one run is left

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
  Rule: Who waits in a join on the prior run is released

    Scenario: A join on a run that is rolled back does not hang
      Given a rollback that has removed a run
      And a run in progress that has written
      And the user waits in a join for it
      When the user starts another run with rollback
      Then the join on the prior run is released
