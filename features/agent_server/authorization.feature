@agent-server
Feature: What a user may see and change
  Authorization handlers return a filter that restricts access, typically to the owner of a thread. The filter is
  merged into the metadata of what is created.

  A conforming target may answer 403 or 404, or another 4xx, for another user's thread; refuse a filter with a 4xx.

  Background:
    Given a deployed agent server

  @AS-AUTHZ-1 @must @section-5
  Rule: Reading the state, retrieving a run and joining a run of another user's thread is answered with an HTTP error status
    Requires two users in the configuration.

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
  Rule: Starting a run on another user's thread is answered with an HTTP error status and leaves the thread unchanged
    Judged with and without rollback. With rollback, a run in progress of the thread's owner must go on to its end.
    Requires two users in the configuration.

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
  Rule: A listing of threads returns only the caller's threads, whatever filter is sent
    Sent are no filter, an empty filter, metadata that the threads of both users share, the ids of both threads, and
    the other user as owner. A filter may be refused with a 4xx. The listing call that is not configured is judged
    too, where the target serves it.
    Requires two users in the configuration.

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
  Rule: The metadata of a new thread names the caller as owner, whatever owner was sent, and keeps the other keys sent
    The filter of the authorization handler is the typical one, owner with the identity of the caller.
    Requires users in the configuration.

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
  Rule: A studio user can list and read other users' threads and runs where the authorization handler returns an empty filter
    Requires users and agent.studio_headers in the configuration.

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
