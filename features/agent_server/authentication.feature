@agent-server
Feature: Who may use the agent server
  A custom authentication handler looks at every request. It refuses a caller with the status and the detail that it
  chooses, or hands the user to the graph. (interface, sections 5 and 7)

  Background:
    Given a deployed agent server

  @AS-AUTH-1 @must @section-5 @section-7
  Rule: Without credentials every route answers with the status of the authentication handler
    The status is the handler's choice, and configured; 401 is the one that the interface shows.

    Scenario Outline: Without credentials nobody may <operation>
      Given a completed run
      When a caller without credentials tries to <operation>
      Then the caller is refused with the status of the authentication handler

      Examples:
        | operation                          |
        | create a thread                    |
        | list the threads                   |
        | list the threads by the other call |
        | start a run                        |
        | retrieve a run                     |
        | join a run                         |
        | read the state                     |

      Examples: whether or not the thread exists
        | operation                           |
        | start a run of an unknown thread    |
        | retrieve a run of an unknown thread |
        | join a run of an unknown thread     |
        | read the state of an unknown thread |

    Scenario Outline: After an update of the deployment nobody may <operation> without credentials either
      Given the agent server of a deployment that was updated
      And a thread of the user
      When a caller without credentials tries to <operation>
      Then the caller is refused with the status of the authentication handler

      Examples:
        | operation        |
        | create a thread  |
        | list the threads |
        | start a run      |
        | read the state   |

  @AS-AUTH-2 @must @section-5
  Rule: So does every route with a token that is unknown, empty or almost right, or with another scheme

    Scenario Outline: With <credentials> nobody may <operation>
      Given a completed run
      When a caller with <credentials> tries to <operation>
      Then the caller is refused with the status of the authentication handler

      Examples:
        | credentials      | operation                          |
        | an unknown token | create a thread                    |
        | an unknown token | list the threads                   |
        | an unknown token | list the threads by the other call |
        | an unknown token | start a run                        |
        | an unknown token | retrieve a run                     |
        | an unknown token | join a run                         |
        | an unknown token | read the state                     |
        | an empty token   | create a thread                    |
        | an empty token   | list the threads                   |
        | an empty token   | list the threads by the other call |
        | an empty token   | start a run                        |
        | an empty token   | retrieve a run                     |
        | an empty token   | join a run                         |
        | an empty token   | read the state                     |
        | another scheme   | create a thread                    |
        | another scheme   | list the threads                   |
        | another scheme   | list the threads by the other call |
        | another scheme   | start a run                        |
        | another scheme   | retrieve a run                     |
        | another scheme   | join a run                         |
        | another scheme   | read the state                     |

      Examples: credentials that are almost right
        | credentials                         | operation        |
        | a token that has one more character | create a thread  |
        | a token that has one more character | list the threads |
        | a token that has one more character | start a run      |
        | a token that has one more character | read the state   |
        | a token in the other case           | create a thread  |
        | a token in the other case           | list the threads |
        | a token in the other case           | start a run      |
        | a token in the other case           | read the state   |

  @AS-AUTH-3 @must @section-5 @section-7
  Rule: The refusal carries the detail of the authentication handler
    Clients look for it as the detail of a JSON object; another form is tolerated, and noted.

    Scenario Outline: The refusal of <caller> says why
      Given a detail that the authentication handler gives
      And a completed run
      When <caller> tries to read the state
      Then the refusal carries the detail

      Examples:
        | caller                         |
        | a caller without credentials   |
        | a caller with an unknown token |

  @AS-AUTH-4 @must @section-5 @slow
  Rule: A refused request has no effect

    Scenario Outline: A run that <caller> was refused is not there
      Given a completed run on a thread of its own
      And <caller> was refused a run on it
      When the user's next run on the thread completes
      Then the thread holds the user's runs only

      Examples:
        | caller                         |
        | a caller without credentials   |
        | a caller with an unknown token |

    Scenario Outline: A run with rollback that <caller> was refused leaves the run in progress alone
      Given a run in progress on a thread of its own
      And <caller> was refused a run with rollback on it
      When the user's next run on the thread completes
      Then the thread holds the user's runs only

      Examples:
        | caller                         |
        | a caller without credentials   |
        | a caller with an unknown token |

    Scenario Outline: A thread that <caller> was refused is not there
      Given a list of threads that shows what is known of them
      And <caller> was refused a thread in the name of the user
      When the user lists the threads
      Then the list does not hold that thread

      Examples:
        | caller                         |
        | a caller without credentials   |
        | a caller with an unknown token |

  @AS-AUTH-5 @must @section-5
  Rule: With a valid token every route is served

    Scenario Outline: The user may <operation>
      Given a completed run
      When the user tries to <operation>
      Then the request is served

      Examples:
        | operation        |
        | create a thread  |
        | list the threads |
        | start a run      |
        | retrieve a run   |
        | join a run       |
        | read the state   |

  @AS-AUTH-6 @must @section-5
  Rule: The graph is told who the caller is

    Scenario: The identity of the user reaches the graph
      When the user asks a run who the caller is
      Then the run tells the identity of the user

    Scenario: The custom fields of the user reach the graph
      Given a user with custom fields
      When the user asks a run who the caller is
      Then the run tells the custom fields of the user

  @AS-AUTH-7 @must @section-5 @slow
  Rule: At every request the graph is told about its own caller, and nobody else

    Scenario Outline: Two users who ask <when> are not taken for each other
      When two users ask runs who the caller is, <when>
      Then each run tells about its own caller

      Examples:
        | when        |
        | in turn     |
        | all at once |
