@agent-server @rollback
@shares:agent-server
Feature: Rolling back a run in progress
  A new run with multitask_strategy rollback replaces a run in progress on the same thread: the prior run is
  interrupted and deleted from storage, and the new run starts with its own input. A run is in progress for the time
  that it was told to wait, unless its own status or its final ai message in the state shows that it has ended. A run that
  had completed before the rollback is not judged as rolled back.

  Unless they are about a pending run, the scenarios wait until the prior run has started: the state shows its first
  message. If the target writes the state only when a run ends, the prior run has started when its status is no longer
  pending, or, without a status or with one that stays pending, after a moment.

  A conforming target may return 404, 410 or any other 4xx for a run that was rolled back; refuse some of several
  rollbacks that arrive at the same time.

  Background:
    Given a deployed agent server

  @AS-ROLLBACK-1 @must @section-3 @section-4 @slow @after:AS-RUN-1
  @writes
  Rule: A run with rollback completes with its own input, without waiting for the prior run
    "a new run is created on the same thread with multitask_strategy = rollback ... The new run starts with the new
    input."
    The run in progress has started before the new run is sent. The new run must be accepted while it is in progress, and
    must complete before the natural end of the prior run. Every other run with rollback must be accepted too, unless another run is sent at
    the same time. Refusals with a status that plain runs get as well belong to AS-RUN-1.

    Scenario: The new run is accepted and does not wait for the prior run
      Given a run in progress that has started
      When the user starts another run with rollback
      Then the new run is accepted
      And the state holds the run's input and its ai message
      And it completes before the natural end of the prior run

    @needs:users @needs:agent.studio_headers
    Scenario: The new run of a studio user does not wait for the prior run
      Given a run in progress that has started
      When a studio user starts another run with rollback
      Then the new run is accepted
      And it completes before the natural end of the prior run

    Scenario: The response to the new run arrives while the new run is in progress
      Given a run in progress that has started
      When the user starts a long run with rollback
      Then the response comes before the end of the run

    @last
    @record
    Scenario: Every valid POST of a run with rollback returned 2xx
      When all exchanges of the test run are read
      Then every valid run with rollback returned 2xx

    @situation
    Scenario Outline: On a thread on which <event>, a rollback does not wait for the end of the prior run
      Given a thread on which <event>
      When a run is rolled back on it
      Then it completes without waiting for the prior run

      Examples:
        | event                                               |
        | a run has completed                                 |
        | a run has failed                                    |
        | a run has used a tool                               |
        | five runs with equal messages have completed        |
        | metadata was set                                    |
        | a client has dropped its join                       |
        | a plain run was sent while a join was pending       |
        | invalid runs were refused                           |
        | runs of an unknown assistant were refused           |
        | runs of another user were refused                   |
        | runs without credentials were refused               |
        | runs with an unknown token were refused             |
        | requests of others were refused during a run        |
        | another user has created eleven threads since       |
        | a run was rolled back as soon as it was accepted    |
        | a long run was rolled back                          |
        | a run was rolled back after two seconds             |
        | a run was rolled back while a join was pending      |
        | a run was rolled back after its join was dropped    |
        | a run was rolled back by one with the same input    |
        | a run was rolled back by one that failed            |
        | several runs were rolled back in turn               |

      @shares:updated
      Examples:
        | event                                                |
        | a run has completed since the deployment was updated |

  @AS-ROLLBACK-2 @must @section-3 @section-4 @section-7 @slow
  @writes
  Rule: GET of a run that was rolled back while it was in progress returns an HTTP error
    "The prior run is interrupted and completely deleted from storage ... Fetching a run that was removed by rollback
    ... An HTTP error status"
    GET of the run is sent once the new run has completed, and is not repeated.

    Scenario: The prior run can no longer be retrieved
      Given a run that was rolled back after it had started
      When the user retrieves the prior run and reads the state, once the new run has completed
      Then the prior run can no longer be retrieved

    @needs:users @needs:agent.studio_headers @after:AS-ROLLBACK-1
    Scenario: A run that a studio user has rolled back can no longer be retrieved
      Given a run in progress that has started
      When a studio user starts another run with rollback
      And the user retrieves the prior run and reads the state, after that run
      Then the prior run can no longer be retrieved

    @situation @after:AS-ROLLBACK-1
    Scenario Outline: Runs of a thread on which <event> can no longer be retrieved once they were rolled back
      Given a thread on which <event>
      When the thread is used again
      Then the runs that were rolled back can no longer be retrieved

      Examples:
        | event                                            |
        | a run was rolled back as soon as it was accepted |
        | a long run was rolled back                       |
        | a run was rolled back after two seconds          |
        | a run was rolled back while a join was pending   |
        | a run was rolled back after its join was dropped |
        | a run was rolled back by one with the same input |
        | a run was rolled back by one that failed         |
        | several runs were rolled back in turn            |

    @situation @after:AS-ROLLBACK-1
    Scenario Outline: On a thread on which <event>, a run that is rolled back can no longer be retrieved
      Given a thread on which <event>
      When a run is rolled back on it
      Then the prior run can no longer be retrieved after that

      Examples:
        | event                                               |
        | a run has completed                                 |
        | a run has failed                                    |
        | a run has used a tool                               |
        | five runs with equal messages have completed        |
        | metadata was set                                    |
        | a client has dropped its join                       |
        | a plain run was sent while a join was pending       |
        | invalid runs were refused                           |
        | runs of an unknown assistant were refused           |
        | runs of another user were refused                   |
        | runs without credentials were refused               |
        | runs with an unknown token were refused             |
        | requests of others were refused during a run        |
        | another user has created eleven threads since       |
        | a run was rolled back as soon as it was accepted    |
        | a long run was rolled back                          |
        | a run was rolled back after two seconds             |
        | a run was rolled back while a join was pending      |
        | a run was rolled back after its join was dropped    |
        | a run was rolled back by one with the same input    |
        | a run was rolled back by one that failed            |
        | several runs were rolled back in turn               |

      @shares:updated
      Examples:
        | event                                                |
        | a run has completed since the deployment was updated |

  @AS-ROLLBACK-3 @must @section-3 @slow @after:AS-ROLLBACK-2
  @writes
  Rule: After a rollback, the thread state contains only the messages of the new run
    "Thread state read after the new run completes ... Contains data only from the new run."
    The prior run is one that was in progress. No message of it may remain: neither its input nor what it had already
    written. Its messages need not be visible before it ends. If they are not, the second scenario is not applicable.

    Scenario: The state contains no message of the prior run
      Given a run that was rolled back after it had started
      When the user retrieves the prior run and reads the state, once the new run has completed
      Then the state holds the messages of the new run only

    Scenario: Messages that were visible before the rollback are removed from the state
      Given a run that was rolled back after the state had shown its first message
      When the user retrieves the prior run and reads the state, once the new run has completed
      Then the state holds no message of the prior run

    @situation
    Scenario Outline: The state of a thread on which <event> shows nothing of the runs that were rolled back
      Given a thread on which <event>
      When the thread is used again
      Then the state shows nothing of a run that was rolled back

      Examples:
        | event                                            |
        | a run was rolled back as soon as it was accepted |
        | a long run was rolled back                       |
        | a run was rolled back after two seconds          |
        | a run was rolled back while a join was pending   |
        | a run was rolled back after its join was dropped |
        | a run was rolled back by one with the same input |
        | a run was rolled back by one that failed         |
        | several runs were rolled back in turn            |

    @situation @after:AS-STATE-2 @after:AS-ROLLBACK-6
    Scenario Outline: On a thread on which <event>, a rollback leaves nothing of the prior run in the state
      Given a thread on which <event>
      When a run is rolled back on it
      Then the state has the messages of the new run and none of the prior run

      Examples:
        | event                                               |
        | a run has completed                                 |
        | a run has failed                                    |
        | a run has used a tool                               |
        | five runs with equal messages have completed        |
        | metadata was set                                    |
        | a client has dropped its join                       |
        | a plain run was sent while a join was pending       |
        | invalid runs were refused                           |
        | runs of an unknown assistant were refused           |
        | runs of another user were refused                   |
        | runs without credentials were refused               |
        | runs with an unknown token were refused             |
        | requests of others were refused during a run        |
        | another user has created eleven threads since       |
        | a run was rolled back as soon as it was accepted    |
        | a long run was rolled back                          |
        | a run was rolled back after two seconds             |
        | a run was rolled back while a join was pending      |
        | a run was rolled back after its join was dropped    |
        | a run was rolled back by one with the same input    |
        | a run was rolled back by one that failed            |
        | several runs were rolled back in turn               |

      @shares:updated
      Examples:
        | event                                                |
        | a run has completed since the deployment was updated |

  @AS-ROLLBACK-4 @must @section-3 @section-4 @section-7 @slow @after:AS-ROLLBACK-2 @after:AS-ROLLBACK-3
  @writes
  Rule: A rolled-back run does not reappear in GET or in the state after its natural end
    "The prior run is interrupted and completely deleted from storage; it cannot be restarted. ... Contains data only
    from the new run."
    Judged at the time at which the prior run would have ended without the rollback. The messages of the new run must
    still be in the state then.

    Scenario: The prior run does not reappear after its natural end
      Given a run that was rolled back after it had started
      When the user retrieves the prior run and reads the state, after the natural end of the prior run
      Then the prior run can no longer be retrieved
      And the state holds the messages of the new run only

    Scenario: A prior run whose graph would have raised an error does not reappear after its natural end
      Given a failing run that was rolled back on a thread of its own
      When the user retrieves the prior run and reads the state, after the natural end of the prior run
      Then the prior run can no longer be retrieved
      And the state holds the messages of the new run only

    @after:AS-STATE-2
    Scenario: The prior run does not reappear after a further run
      Given a run that was rolled back on a thread of its own
      When a further run of the user on the thread completes
      And the user retrieves the prior run and reads the state, after that run
      Then the prior run can no longer be retrieved
      And the state holds no message of the prior run

  @AS-ROLLBACK-5 @must @section-3 @section-4 @section-7 @slow @after:AS-ROLLBACK-2 @after:AS-ROLLBACK-3
  @writes
  Rule: GET of a rolled-back pending run returns an HTTP error, and the state has no message of it
    "The prior run is interrupted and completely deleted from storage ... Contains data only from the new run. ... fails
    with an HTTP error status when the run was rolled back and deleted"
    Judged at once, and again at the time at which the pending run would have ended without the rollback. A run may be
    pending for a short time after it was accepted, and writes its first message later. If runs that have started are
    not removed either (AS-ROLLBACK-2, AS-ROLLBACK-3), the scenario is repeated until nothing remains. If the target
    accepts multitask_strategy enqueue, which is not part of the interface, runs that are pending behind another run, or
    behind two, are judged too.

    Scenario Outline: A run that was rolled back <moment> can no longer be retrieved, and the state contains none of its messages
      When the user rolls back a run <moment>
      And the user retrieves the prior run and reads the state, once the new run has completed
      And the user retrieves the prior run and reads the state, after the natural end of the prior run
      Then the prior run can no longer be retrieved
      And the state holds the messages of the new run only

      Examples:
        | moment                                     |
        | as soon as it was accepted                 |
        | while it was pending behind another run    |
        | while it was pending behind two other runs |

  @AS-ROLLBACK-6 @must @section-3
  @writes
  Rule: With no run in progress, a rollback keeps the thread's completed runs and their messages
    "prior run is still in progress ... The prior run is interrupted and completely deleted from storage"
    Applies if plain runs keep the messages of earlier runs too (AS-STATE-3).

    Scenario: Completed runs and their messages are kept
      Given a thread that keeps the messages of its completed runs
      When the user's next run on the thread, with rollback, completes
      Then the earlier runs can be retrieved
      And the state holds the messages of the user's runs only

    Scenario: Completed runs and their messages are kept if a later run has failed, and the failed run as well
      Given a thread that keeps the messages of its completed runs
      And a later run on it has failed
      When the user's next run on the thread, with rollback, completes
      Then the earlier runs and the failed one can be retrieved
      And the state holds the messages of these completed runs, in order

  @AS-ROLLBACK-7 @must @section-3 @slow
  @writes
  Rule: A rollback does not affect completed runs or runs in progress on other threads
    "a new run is created on the same thread with multitask_strategy = rollback ... The prior run is interrupted and
    completely deleted from storage"
    Only the prior run is deleted, and only while it is in progress: all other runs keep what they wrote.

    Scenario: A completed run and a run in progress on other threads are unchanged
      Given a completed run and a run in progress on other threads of the user
      And a run in progress that has started
      When the user starts another run with rollback
      Then the runs on the other threads can be retrieved
      And they complete with their own messages

    @situation
    Scenario Outline: A rollback on a thread on which <event> deletes no completed run
      Given a thread on which <event>
      When a run is rolled back on it
      Then its completed runs can still be retrieved after that

      Examples:
        | event                                               |
        | a run has completed                                 |
        | a run has used a tool                               |
        | five runs with equal messages have completed        |
        | metadata was set                                    |
        | a client has dropped its join                       |
        | a plain run was sent while a join was pending       |
        | invalid runs were refused                           |
        | runs of an unknown assistant were refused           |
        | runs of another user were refused                   |
        | runs without credentials were refused               |
        | runs with an unknown token were refused             |
        | requests of others were refused during a run        |
        | another user has created eleven threads since       |
        | a run was rolled back as soon as it was accepted    |
        | a long run was rolled back                          |
        | a run was rolled back after two seconds             |
        | a run was rolled back while a join was pending      |
        | a run was rolled back after its join was dropped    |
        | a run was rolled back by one with the same input    |
        | several runs were rolled back in turn               |

      @shares:updated
      Examples:
        | event                                                |
        | a run has completed since the deployment was updated |

  @AS-ROLLBACK-8 @must @section-3 @slow @after:AS-ROLLBACK-1 @after:AS-ROLLBACK-2 @after:AS-ROLLBACK-3
  @writes
  Rule: After several rollbacks, only one run remains: the last one if they were sent in turn
    "The prior run is interrupted and completely deleted from storage ... Thread state read after the new run completes
    ... Contains data only from the new run."
    The state contains the messages of the remaining run only. In sequence, each run has started before the next one
    is sent. Of rollbacks sent at the same time any run may be the one that remains, and some may be refused.

    Scenario: After rollbacks in sequence only the last run remains
      When the user starts five runs with rollback, one after the other
      Then only the last of these runs can be retrieved
      And the state holds the messages of that run only

    Scenario: After a rollback by a run that fails only that run can be retrieved
      When the user starts a run, and then one with rollback that fails
      Then only the last of these runs can be retrieved

    Scenario: After rollbacks at the same time exactly one run remains
      When the user starts five runs with rollback, all at once
      Then exactly one of these runs can be retrieved
      And the state holds the messages of that run only

  @AS-ROLLBACK-9 @should @section-3 @slow @after:AS-RUN-4
  @writes
  Rule: A pending join returns when its run is rolled back
    "The prior run is interrupted and completely deleted from storage; it cannot be restarted."
    Any response or a closed connection counts, within timeouts.request after the new run has completed. A join that
    returns only when its run would have ended anyway is repeated with a run that takes longer than timeouts.request.

    Scenario: A pending join returns when its run is rolled back
      Given a run in progress that has started
      And a pending join of the user on that run
      When the user starts another run with rollback
      Then the join on the prior run returns

  @AS-ROLLBACK-10 @must @section-3 @section-4 @slow @after:AS-RUN-2
  @writes
  Rule: A refused run with rollback does not affect the run in progress
    "A run exists on a thread; a new run is created on the same thread with multitask_strategy = rollback"
    A request that returns an HTTP error status creates no run. The scenario is skipped if the server accepts the
    request. Refusals for credentials belong to AS-AUTH-4, and those of other users to AS-AUTHZ-2.

    Scenario Outline: A run with rollback and <mistake> does not affect the run in progress
      Given a run in progress on a new thread
      And the user was refused a run with rollback and <mistake> on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only
      And the earlier runs can be retrieved

      Examples:
        | mistake                 |
        | an unknown assistant_id |
        | no assistant_id         |
        | a number as input       |
