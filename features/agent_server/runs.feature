@agent-server
Feature: Runs
  A run executes a graph on a thread. The run goes on after it was accepted, and a client joins it to learn when it
  has completed.

  A conforming target may answer 404 or any other 4xx for a run or thread that does not exist.

  Background:
    Given a deployed agent server

  @AS-RUN-1 @must @section-2 @section-4 @slow
  Rule: POST /threads/{thread_id}/runs answers with a run_id while the run is still in progress

    Scenario: Starting a run answers with its id
      Given a thread of the user
      When the user starts a run
      Then the answer holds the id of a run

    Scenario: The answer does not wait for the end of the run
      When the user starts a run that takes a while
      Then it is accepted before its time is over

  @AS-RUN-2 @must @section-4
  Rule: GET of a run returns the run with the run_id asked for, whether in progress or completed

    Scenario: A completed run is found
      Given a completed run
      When the user retrieves the run
      Then the answer is that run

    Scenario: A run in progress is found
      Given a run in progress
      When the user retrieves the run
      Then the answer is that run

  @AS-RUN-3 @must @section-4 @section-7
  Rule: GET of an unknown run, and GET or POST of a run on an unknown thread, are answered with an HTTP error status

    Scenario: An unknown run is not found
      Given a completed run
      When the user retrieves an unknown run of the thread
      Then the answer is an error status

    Scenario: A run of an unknown thread is not found
      Given a completed run
      When the user retrieves the run under an unknown thread
      Then the answer is an error status

    Scenario: An unknown thread takes no run
      When the user starts a run on an unknown thread
      Then the answer is an error status

  @AS-RUN-4 @must @section-4 @slow
  Rule: The join of a run is answered when the run has completed, and not before
    After the join the state holds the input and the answer of the run. A run whose graph raised an error has
    completed too; its join may be answered with any status.

    Scenario: A join waits until the run has completed
      When the user starts a run that takes a while, and joins it
      Then the join answers
      And not before the run's time is over

    Scenario: A join is not cut off while the run goes on
      When the user starts a run that takes longer, and joins it
      Then the join answers
      And not before the run's time is over

    Scenario: After the join the state holds the answer
      When the user starts a run that takes a while, and joins it
      And the user reads the state of the thread
      Then the state holds the run's input and its answer

    Scenario: A run that fails is over, too
      Given a run that fails
      When the user joins the run
      Then the join is answered

  @AS-RUN-5 @must @section-4
  Rule: The join of a completed run is answered at once
    At once is within one second, or longer where the target is slow in general.

    Scenario: A run that is over is not waited for
      Given a completed run
      When the user joins the run
      Then the join answers at once

  @AS-RUN-6 @should @section-4
  Rule: A run with an unknown assistant_id is refused with a 4xx, leaves no messages in the state, and the thread stays usable

    Scenario: A run of a graph that is not deployed is refused
      Given a thread of the user
      When the user tries to start a run of an unknown graph
      Then the request is refused

    Scenario: After the refusal the thread takes a run, and holds nothing else
      Given a thread of the user
      When the user tries to start a run of an unknown graph
      And the user's next run on the thread completes
      Then the thread holds the user's runs only

  @AS-RUN-7 @should @section-4
  Rule: A run request with a malformed body or an unknown multitask_strategy is refused with a 4xx
    Judged are a body that is not valid JSON or not an object, a missing assistant_id, and a number as assistant_id or
    input.

    Scenario Outline: A run with <mistake> is refused
      Given a thread of the user
      When the user tries to start a run with <mistake>
      Then the request is refused

      Examples:
        | mistake                       |
        | a body that is no JSON        |
        | a list in place of the object |
        | no graph                      |
        | a number as graph             |
        | a number as input             |
        | an unknown multitask strategy |

  @AS-RUN-8 @should @section-4
  Rule: GET of a run under another thread of the user is answered with an HTTP error status

    Scenario: A run is not found under another thread of the same user
      Given a completed run
      And another thread of the user
      When the user retrieves the run under the other thread
      Then the answer is an error status
