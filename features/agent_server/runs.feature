@agent-server
@shares:agent-server
Feature: Runs
  A run executes a graph on a thread. The run continues after it was accepted, and a client joins it to learn when it
  has completed.

  A conforming target may return 404 or any other 4xx for a run or thread that does not exist.

  Background:
    Given a deployed agent server

  @AS-RUN-1 @must @section-2 @section-4 @slow
  @writes
  Rule: POST /threads/{thread_id}/runs returns a run_id while the run is still in progress
    "POST /threads/{thread_id}/runs ... Run with run_id ... GET /threads/{thread_id}/runs/{run_id}/join ... Responds
    when the run completes"
    Each request starts a run, even if its body equals that of an earlier one.

    Scenario: Starting a run returns a run_id
      Given a thread of the user
      When the user starts a run
      Then the response has a "run_id"

    Scenario: A run with the same input as a completed one has another run_id
      Given a completed run on a new thread
      When the user starts a run with the same input
      Then the response has a "run_id"
      And its run_id differs from that of the earlier run

    Scenario: The response arrives while the run is in progress
      When the user starts a long run
      Then the response comes before the end of the run

    @last
    @record
    Scenario: Every valid POST of a run returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "create-run" returned 2xx

    @situation
    Scenario Outline: A thread on which <event> accepts a further run
      Given a thread on which <event>
      When the thread is used again
      Then it accepts a further run

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

  @AS-RUN-2 @must @section-4
  @writes
  Rule: GET of a run returns that run with its run_id, whether in progress or completed
    "GET /threads/{thread_id}/runs/{run_id} ... The run"

    Scenario: A completed run can be retrieved
      Given a completed run
      When the user retrieves the run
      Then the response has the "run_id" of that run

    Scenario: A run whose graph raised an error can be retrieved
      Given a run whose graph raises an error
      When the user joins the run
      And the user retrieves the run
      Then the response has the "run_id" of that run

    Scenario: A run in progress can be retrieved
      Given a run in progress
      When the user retrieves the run
      Then the response has the "run_id" of that run

    @last
    Scenario: At the end of the test run, a run that completed early can be retrieved
      Given a completed run
      When the user retrieves the run
      Then the response has the "run_id" of that run

    @last
    @record
    Scenario: Every valid GET of a run returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "get-run" returned 2xx

    @situation
    Scenario Outline: Completed runs of a thread on which <event> can be retrieved
      Given a thread on which <event>
      When the thread is used again
      Then its completed runs can be retrieved

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

  @AS-RUN-3 @must @section-4 @section-7 @form
  @writes
  Rule: GET of an unknown run of a thread returns an HTTP error
    "GET /threads/{thread_id}/runs/{run_id} ... The run; fails with an HTTP error status when the run was rolled back
    and deleted"
    An id in capital letters, in braces, without dashes or after urn:uuid: may stand for the run, or be unknown.

    Scenario: GET of an unknown run returns an HTTP error
      Given a completed run
      When the user retrieves an unknown run of the thread
      Then the request returns an HTTP error status

    Scenario: GET of a run by a slightly different id, or by the id of its thread, returns an HTTP error
      Given a completed run
      When the user retrieves the run by each wrong run id
      Then each of these requests returns an HTTP error status

    Scenario: GET of a run by its id in a different spelling returns that run, or an HTTP error
      Given a completed run
      When the user retrieves the run by its id in each other spelling
      Then each response is the run, or has an HTTP error status

  @AS-RUN-10 @should @section-4 @form
  @writes
  Rule: GET or POST of a run under an unknown thread returns an HTTP error
    "GET /threads/{thread_id}/runs/{run_id} ... POST /threads/{thread_id}/runs"
    The interface does not define the response to such a request, and some servers create the thread. A client that
    uses a wrong id would take the response for that of its own thread.

    Scenario: GET of a run under an unknown thread returns an HTTP error
      Given a completed run
      When the user retrieves the run under an unknown thread
      Then the request returns an HTTP error status

    Scenario: GET of a run under a slightly different thread id, or under its own id, returns an HTTP error
      Given a completed run
      When the user retrieves the run under each wrong thread id
      Then each of these requests returns an HTTP error status

    Scenario: Starting a run under a slightly different thread id returns an HTTP error
      Given a completed run on a new thread
      When the user starts a run under each wrong thread id
      Then each of these requests returns an HTTP error status

    Scenario: Starting a run on an unknown thread returns an HTTP error
      When the user starts a run on an unknown thread
      Then the request returns an HTTP error status

  @AS-RUN-4 @must @section-4 @slow
  @writes
  Rule: A join returns when the run has completed, and not before
    "GET /threads/{thread_id}/runs/{run_id}/join ... Responds when the run completes"
    After the join the state contains the input and the ai message of the run. If the first read lacks messages, a second
    run on another thread decides: its state is read once, after the configured patience. A run whose graph raised an
    error has completed too, and its join may return any status. Every run must end within timeouts.run plus its own
    hold and those of earlier runs on the thread. Runs of which one is pending behind the other are judged if the target
    accepts multitask_strategy enqueue, which is not part of the interface.

    Scenario: A join returns when the run has completed, and not before
      When the user starts a long run, and joins it
      Then the join returns 2xx
      And the join does not return before the end of the run

    Scenario: A join of a longer run returns when the run has completed, and not before
      When the user starts a longer run, and joins it
      Then the join returns 2xx
      And the join does not return before the end of the run

    Scenario: Two joins at the same time both return when the run has completed, and not before
      When the user starts a long run, and joins it twice at the same time
      Then the join returns 2xx
      And the join does not return before the end of the run

    Scenario: A join of a run that is pending behind another one returns when the run has completed, and not before
      When the user joins a run that is pending behind another run
      Then the join returns 2xx
      And the join does not return before the end of the run

    Scenario: A join of a run that is pending behind one that fails returns when the run has completed, and not before
      When the user joins a run that is pending behind a run that fails
      Then the join returns 2xx
      And the join does not return before the end of the run

    Scenario: A join of a run does not wait for a run that is pending behind it
      When the user joins a run behind which another one is pending
      Then the join returns 2xx
      And the join does not wait for the run that is pending behind it

    Scenario: After the join the state contains the input and the ai message
      When the user starts a long run, and joins it
      And the user reads the state after the join
      Then the state holds the run's input and its ai message

    Scenario Outline: After the join of a run that <history>, the state contains its input and ai message
      When the user joins a run that <history>
      And the user reads the state after the join
      Then the state holds the run's input and its ai message

      Examples:
        | history                       |
        | is pending behind another run |
        | replaces another run          |

    Scenario: The join of a failed run returns
      Given a run whose graph raises an error
      When the user joins the run
      Then the join returns any status

    @last
    @record
    Scenario: Every run that the suite waited for completed in time
      When all exchanges of the test run are read
      Then each run that the suite waited for has completed

    @last
    @record
    Scenario: No join returned before the end of its run
      When all exchanges of the test run are read
      Then no join returned before the end of its run

  @AS-RUN-5 @must @section-4
  @writes
  Rule: The join of a completed run returns at once
    "GET /threads/{thread_id}/runs/{run_id}/join ... Responds when the run completes"
    At once is within one second, or longer if the target is slow in general.

    Scenario: The join of a completed run returns 2xx at once
      Given a completed run
      When the user joins the run
      Then the join returns 2xx at once

    Scenario: Further joins of a completed run return 2xx at once
      Given a completed run on a new thread
      When the user joins the run again and again
      Then the join returns 2xx at once

    @slow
    Scenario: The join of a completed run returns 2xx at once while a later run of the thread is in progress
      Given a completed run on a new thread
      When the user joins the run during a later run
      Then the join returns 2xx at once

    @last
    @record
    Scenario: Every valid join of a completed run returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "join-run" returned 2xx

  @AS-RUN-11 @should @section-4 @slow
  @writes
  Rule: A run completes even if the client drops its join
    "GET /threads/{thread_id}/runs/{run_id}/join ... Responds when the run completes"
    A join waits for a run, and the interface gives it no other effect. It does not state what happens if the client
    closes the connection.

    Scenario: A run whose join was dropped completes
      When the user drops the join of a long run
      Then the run completes although its join was dropped

  @AS-RUN-6 @should @section-4 @form
  @writes
  Rule: An unknown assistant_id returns 4xx, adds no messages, and the thread stays usable
    "assistant_id (string, the name of a deployed graph)"
    A run executes a deployed graph, so without one it cannot be accepted.

    Scenario Outline: A run with <assistant> returns 4xx
      Given a thread of the user
      When the user tries to start a run of <assistant>
      Then the request is refused with 4xx

      Examples:
        | assistant                                |
        | an unknown assistant_id                  |
        | the assistant_id with one more character |

    Scenario Outline: A run with <mistake> returns 4xx
      Given a thread of the user
      When the user tries to start a run with <mistake>
      Then the request is refused with 4xx

      Examples: JSON that is not interoperable
        | mistake                                                    |
        | a lone surrogate in assistant_id                           |
        | an unknown assistant_id, and a lone surrogate in a message |

    Scenario: After the refusal the thread accepts a run, and the state contains no other messages
      Given a thread of the user
      When the user tries to start a run of an unknown assistant_id
      And the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

  @AS-RUN-7 @should @section-4 @form @after:AS-ERROR-2
  @writes
  Rule: POST of a run with a malformed body or an unknown multitask_strategy returns 4xx
    "JSON: assistant_id (string, the name of a deployed graph), input (object; messages: array of objects with role and
    content), optional multitask_strategy (string; rollback is the value defined here)"
    Covers a body that is not valid JSON or not an object, a missing or empty assistant_id, and a number as
    assistant_id, input or multitask_strategy.

    Scenario Outline: A run with <mistake> returns 4xx
      Given a thread of the user
      When the user tries to start a run with <mistake>
      Then the request is refused with 4xx

      Examples:
        | mistake                         |
        | a body that is not valid JSON   |
        | an array in place of the object |
        | null in place of the object     |
        | no body                         |
        | no assistant_id                 |
        | an empty assistant_id           |
        | a number as assistant_id        |
        | a number as input               |
        | an unknown multitask_strategy   |
        | a number as multitask_strategy  |

  @AS-RUN-8 @should @section-4
  @writes
  Rule: GET of a run under another thread of the user returns an HTTP error
    "GET /threads/{thread_id}/runs/{run_id} ... The run"
    A run belongs to one thread, so its address under another one names no run.

    Scenario: GET of a run under another thread of the same user returns an HTTP error
      Given a completed run
      And another thread of the user
      When the user retrieves the run under the other thread
      Then the request returns an HTTP error status

  @AS-RUN-9 @should @section-4 @after:AS-RUN-5
  @writes
  Rule: The join of an unknown run, or of a run of another thread or user, returns an HTTP error
    The interface defines no such join. A client that joins a wrong run would wait for nothing, and take the response
    for the end of its own run. Runs of another user are judged if two users are configured.

    Scenario: The join of an unknown run returns an HTTP error
      Given a completed run
      When the user joins an unknown run of the thread
      Then the request returns an HTTP error status

    Scenario: The join with a slightly different run id or thread id returns an HTTP error
      Given a completed run
      When the user joins the run by each wrong run id and under each wrong thread id
      Then each of these requests returns an HTTP error status

    Scenario Outline: The join of a run under <which> thread returns an HTTP error
      Given a completed run
      And another thread of the user
      When the user joins the run under <which> thread
      Then the request returns an HTTP error status

      Examples:
        | which      |
        | an unknown |
        | the other  |

    @needs:users.1
    Scenario Outline: With a run of the <owner> user, another user's request to <join> returns an HTTP error
      Given the user is the <owner> configured user
      And a completed run
      When the other user tries to <join>
      Then the join of another user's run returns an HTTP error status

      Examples:
        | owner  | join                                     |
        | first  | join a run                               |
        | first  | join the run under a thread of their own |
        | second | join a run                               |
        | second | join the run under a thread of their own |
