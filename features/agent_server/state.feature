@agent-server
@shares:agent-server
Feature: The state of a thread
  The state of a thread contains the messages of its runs: the input as human messages, the output of the graph as ai
  messages, and the results of tools as tool messages.

  A conforming target may write a system message at the start of each thread.

  Background:
    Given a deployed agent server

  @AS-STATE-1 @must @section-2 @section-4
  @writes
  Rule: The state after a run has values.messages, an array of objects with type and content
    "Thread state: an object with values.messages, an array of message objects with at least type (observed kinds:
    human, ai, tool) and content."
    The array is not empty, type is a non-empty string, and content is a string or an array of parts.

    Scenario: After a run the state has messages with type and content
      Given a completed run
      When the user reads the state of the thread
      Then the state has a non-empty array "values.messages"
      And each message has a "type" and a "content"

    @last
    @record
    Scenario: Every valid GET of a state returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "get-state" returned 2xx

  @AS-STATE-2 @must @section-2 @section-4
  @writes
  Rule: The state lists a run's human, tool and ai messages, in order
    "Thread state: an object with values.messages, an array of message objects with at least type (observed kinds:
    human, ai, tool) and content."
    The human messages are the input, in order, and the last ai message is the output of the graph. Both texts must be
    unchanged in any script, with accents, emoji and line breaks, and at a length of 3,000 characters. A state that had
    shown a completed run shows that run, or a later one.

    Scenario: The input is a human message, and the output is an ai message
      When a run of the user with one message has completed
      Then the messages of the state have the types "human, ai"
      And the human messages are the input, in order
      And the last message repeats the last message of the input

    Scenario: Several messages keep their order
      When a run of the user with three messages has completed
      Then the messages of the state have the types "human, human, human, ai"
      And the human messages are the input, in order
      And the last message repeats the last message of the input

    Scenario Outline: Human and ai message are unchanged with <text>
      When a run of the user with <text> has completed
      Then the messages of the state have the types "human, ai"
      And the human messages are the input, in order
      And the last message repeats the last message of the input

      Examples:
        | text                            |
        | a string with accented letters  |
        | a string with combining accents |
        | a string in other scripts       |
        | a string with emoji             |
        | a string of 3,000 characters    |

    Scenario: Whitespace and line breaks of an input are unchanged
      When a run of the user with a string of several lines has completed
      Then the messages of the state have the types "human, ai"
      And the human messages are the input, in order

    Scenario: Forty messages are unchanged, with texts that a server may escape, trim, normalize or merge
      When a run of the user with a message of each class of text has completed
      Then the human messages are the input, in order

    Scenario Outline: A run with <message> keeps it, or returns 4xx
      When a run of the user with <message> has completed, or was refused with 4xx
      Then the human messages are the input, in order

      Examples:
        | message             |
        | an empty message    |
        | a message of 32 KiB |
        | a message of 80 KiB |

    Scenario Outline: A run with <character> in a message completes and loses no message, or returns 4xx
      When a run of the user with <character> has completed, or was refused with 4xx
      Then the state holds the run's input and its ai message
      And the state has a human message for each message of the input

      Examples:
        | character            |
        | the character U+0000 |
        | the character U+FFFE |

    Scenario: The result of a tool is a tool message
      When a run of the user that calls a tool has completed
      Then the messages of the state have the types "human, tool, ai"

    Scenario: The result of a tool in a further run is a tool message, too
      When a run of the user that calls a tool has completed
      And a further run of the user on the thread that calls a tool completes
      Then the last messages of the state have the types "human, tool, ai"

    @slow
    Scenario: A message that a run wrote early stays in the state
      When a run of the user that writes a message early has completed
      Then the messages of the state have the types "human, ai, ai"

    @slow
    Scenario: A run of more than two seconds leaves its messages once
      When a run of the user that takes longer has completed
      Then the messages of the state have the types "human, ai"

    @slow
    Scenario: During a second run the state still shows the first one, or already the second
      Given a completed run on a new thread
      When the user reads the state again and again during a second run
      Then each of these states shows one of both runs

    @last
    Scenario: At the end of the test run, the state has the messages of a run that completed early
      Given a completed run
      When the user reads the state of the thread
      Then the state holds the run's input and its ai message

    @last
    @record
    Scenario: No state lacks a completed run that it had shown before
      When all exchanges of the test run are read
      Then no state lacks a completed run that it had shown before, and all later runs

    @situation
    Scenario Outline: On a thread on which <event>, the state ends with the messages of the last completed run
      Given a thread on which <event>
      When the thread is used again
      Then the state ends with the messages of its last completed run

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

    @situation
    Scenario Outline: On a thread on which <event>, the state ends with the messages of a further run
      Given a thread on which <event>
      When the thread is used again
      Then the state ends with the messages of the further run

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

  @AS-STATE-3 @should @section-2
  @writes
  Rule: A second run on a thread adds its messages after those of the first run

    Scenario: The state contains the messages of both runs, in order
      Given a completed run on a new thread
      When the user's next run on the thread completes
      Then the state holds the messages of both runs, in order

    @situation
    Scenario Outline: On a thread on which <event>, the messages of a further run follow those of the completed runs
      Given a thread on which <event>
      When the thread is used again
      Then the messages of the further run follow those of the earlier runs

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

  @AS-STATE-4 @should @section-4 @form
  @writes
  Rule: GET of the state of an unknown thread returns an HTTP error
    "GET /threads/{thread_id}/state ... State with values.messages"
    There is no state to return, and a client could not tell a wrong id from an empty thread.

    Scenario: GET of the state by a slightly different id, a run id or an invalid UUID returns an HTTP error
      Given a completed run
      When the user reads the state of each wrong thread id
      Then each of these requests returns an HTTP error status

  @AS-STATE-5 @should @section-2
  @writes
  Rule: The state of a new thread has no messages, whatever other threads of the user contain
    "Thread state: an object with values.messages, an array of message objects"
    The state of a thread without a run may be missing: any status below 500 is accepted.

    @situation
    Scenario Outline: When <event> on another thread, a new thread has no messages
      Given a thread on which <event>
      When the thread is used again
      Then a new thread of the user contains no messages

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

  @AS-STATE-6 @should @section-4 @slow @after:AS-ERROR-1
  @writes
  Rule: GET of the state returns 2xx while a run of the thread is in progress
    "GET /threads/{thread_id}/state ... State with values.messages"
    The state may be that without the run. A thread without a run need not have a state, so a 4xx within the configured
    patience after the first run was accepted is not judged.

    Scenario: The state can be read while the first run of a thread is in progress
      Given a run in progress on a new thread
      When the user reads the state during the run
      Then the GET of the state returns 2xx

    @last
    @record
    Scenario: Every valid GET of a state during a run returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "get-state" during a run returned 2xx
