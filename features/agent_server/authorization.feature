@agent-server @security
Feature: Authorization at the agent server
  Authorization handlers return a filter that restricts access, typically to the owner of a thread. The filter is
  merged into the metadata of what is created.

  A conforming target may answer 403 or 404, or another 4xx, for another user's thread; refuse a filter with a 4xx.

  Background:
    Given a deployed agent server

  @AS-AUTHZ-1 @must @section-5
  Rule: Reading the state, retrieving a run and joining a run of another user's thread is answered with an HTTP error status
    Requires two users in the configuration.

    Scenario Outline: The request of another user to <operation> is answered with an HTTP error status
      Given a completed run
      When the other user tries to <operation>
      Then the request is answered with an HTTP error status

      Examples:
        | operation      |
        | read the state |
        | retrieve a run |
        | join a run     |

  @AS-AUTHZ-2 @must @section-5 @slow
  Rule: Starting a run on another user's thread is answered with an HTTP error status and leaves the thread unchanged
    Judged with and without rollback. With rollback, a run in progress of the thread's owner must complete.
    Requires two users in the configuration.

    Scenario Outline: The request of another user to start <run> is answered with an HTTP error status
      Given a completed run on a new thread
      When the other user tries to start <run>
      Then the request is answered with an HTTP error status

      Examples:
        | run                 |
        | a run               |
        | a run with rollback |

    Scenario: A run that another user was refused was not created
      Given a completed run on a new thread
      And the other user was refused a run on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

    Scenario: A run with rollback that another user was refused does not affect the run in progress
      Given a run in progress on a new thread
      And the other user was refused a run with rollback on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

  @AS-AUTHZ-3 @must @section-5
  Rule: A listing of threads returns only the caller's threads, whatever filter is sent
    The requests send no filter, an empty filter, metadata that the threads of both users share, the ids of both
    threads, and the other user as owner. A filter may be refused with a 4xx. The listing endpoint that is not
    configured is judged too, where the target serves it.
    Requires two users in the configuration.

    Scenario Outline: A list with <filter> returns only the caller's threads
      Given a thread of each of two users
      When the other user lists the threads with <filter>
      Then the list holds no thread of the user
      And the list holds the thread of the other user

      Examples:
        | filter                          |
        | no filter                       |
        | an empty filter                 |
        | metadata that both threads have |
        | the ids of both threads         |

    Scenario: The other listing endpoint returns only the caller's threads
      Given a thread of each of two users
      When the other user lists the threads with the other listing endpoint
      Then the list holds no thread of the user

    Scenario: A list filtered by another user as owner returns none of that user's threads
      Given a thread of each of two users
      When the other user lists the threads with the user as owner
      Then the list holds no thread of the user

  @AS-AUTHZ-4 @should @section-5
  Rule: The metadata of a new thread names the caller as owner, whatever owner was sent, and keeps the other keys sent
    The filter of the authorization handler is the typical one, owner with the identity of the caller.
    Requires users in the configuration.

    Scenario: The metadata of a new thread names the caller as owner
      When the user creates a thread
      Then its metadata names the user as owner

    Scenario: The metadata of a new thread names the caller as owner where another owner was sent
      When the user creates a thread that names another owner
      Then its metadata names the user as owner

    Scenario: The metadata of a new thread keeps the other keys sent
      When the user creates a thread with metadata
      Then its metadata holds the keys that were sent
      And its metadata names the user as owner

  @AS-AUTHZ-5 @may @section-5
  Rule: A studio user can list and read other users' threads and runs where the authorization handler returns an empty filter
    Requires users and agent.studio_headers in the configuration.

    Scenario Outline: The request of a studio user to <operation> of a user is answered with 2xx
      Given a completed run
      When a studio user tries to <operation>
      Then the request is answered with 2xx

      Examples:
        | operation      |
        | read the state |
        | retrieve a run |

    Scenario: The list of a studio user contains the thread of a user
      Given a thread of the user
      When a studio user lists the threads
      Then the list holds the thread
