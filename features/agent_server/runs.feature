@agent-server
Feature: Runs
  A run has a graph work on a thread. It goes on after it was accepted; a client joins it to learn when it has
  completed. (interface, sections 4 and 7)

  Background:
    Given a deployed agent server

  @AS-RUN-1 @must @section-4 @slow
  Rule: A run is accepted at once, with an id, and goes on

    Scenario: Starting a run answers with its id
      Given a thread of the user
      When the user starts a run
      Then the answer holds the id of a run

    Scenario: The answer does not wait for the end of the run
      When the user starts a run that takes a while
      Then it is accepted before its time is over

  @AS-RUN-2 @must @section-4
  Rule: A run can be retrieved

    Scenario: A completed run is found
      Given a completed run
      When the user retrieves the run
      Then the answer is that run

    Scenario: A run in progress is found
      Given a run in progress
      When the user retrieves the run
      Then the answer is that run

  @AS-RUN-3 @must @section-4 @section-7
  Rule: What does not exist answers with an error status

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
  Rule: A join answers when the run has completed, and not before

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
  Rule: A join of a completed run answers at once

    Scenario: A run that is over is not waited for
      Given a completed run
      When the user joins the run
      Then the join answers at once

  @AS-RUN-6 @should @section-4
  Rule: A run of an unknown graph is refused, and leaves the thread usable

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
  Rule: A run that makes no sense is refused

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
  Rule: A run is found only under its own thread

    Scenario: A run is not found under another thread of the same user
      Given a completed run
      And another thread of the user
      When the user retrieves the run under the other thread
      Then the answer is an error status
