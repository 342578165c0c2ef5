@agent-server
Feature: What a user may see and change
  Authorization handlers return a filter that restricts access; a typical one is the owner of a thread. The filter is
  merged into the metadata of what is created. (interface, section 5)

  Background:
    Given a deployed agent server

  @AS-AUTHZ-1 @must @section-5
  Rule: Another user's thread, its state, its runs and their joins answer with an error status

    Scenario Outline: Another user may not <operation>
      Given a completed run
      When the other user tries to <operation>
      Then the answer is an error status

      Examples:
        | operation      |
        | read the state |
        | retrieve a run |
        | join a run     |

  @AS-AUTHZ-2 @must @section-5 @slow
  Rule: Another user's thread takes no run, and is unchanged after the attempt

    Scenario Outline: Another user may not start <run>
      Given a completed run on a thread of its own
      When the other user tries to start <run>
      Then the answer is an error status

      Examples:
        | run                 |
        | a run               |
        | a run with rollback |

    Scenario: A run that another user was refused is not there
      Given a completed run on a thread of its own
      And the other user was refused a run on it
      When the user's next run on the thread completes
      Then the thread holds the user's runs only

    Scenario: A run with rollback that another user was refused leaves the run in progress alone
      Given a run in progress on a thread of its own
      And the other user was refused a run with rollback on it
      When the user's next run on the thread completes
      Then the thread holds the user's runs only

  @AS-AUTHZ-3 @must @section-5
  Rule: A list of threads holds one's own only, whatever it is asked for

    Scenario Outline: A list with <filter> holds no thread of another user
      Given a thread each of two users
      When the other user lists the threads with <filter>
      Then the list holds no thread of the user
      And the list holds the thread of the other user

      Examples:
        | filter                                 |
        | no filter                              |
        | an empty filter                        |
        | metadata that the threads of both have |
        | the ids of both threads                |

    Scenario: The other listing call holds no thread of another user either
      Given a thread each of two users
      When the other user lists the threads by the other call
      Then the list holds no thread of the user

    Scenario: A list of the threads that the user owns is not for others
      Given a thread each of two users
      When the other user lists the threads with the user as owner
      Then the list holds no thread of the user

  @AS-AUTHZ-4 @should @section-5
  Rule: The filter is merged into the metadata of what is created

    Scenario: A new thread names its owner
      When the user creates a thread
      Then its metadata names the user as owner

    Scenario: A thread cannot be created in another name
      When the user creates a thread that names another owner
      Then its metadata names the user as owner

    Scenario: Other metadata is kept
      When the user creates a thread with metadata
      Then its metadata holds what was given
      And its metadata names the user as owner

  @AS-AUTHZ-5 @may @section-5
  Rule: A studio user is not filtered, where the authorization handler says so

    Scenario Outline: A studio user may <operation> of a user
      Given a completed run
      When a studio user tries to <operation>
      Then the request is served

      Examples:
        | operation      |
        | read the state |
        | retrieve a run |

    Scenario: A studio user sees the threads of a user
      Given a thread of the user
      When a studio user lists the threads
      Then the list holds the thread
