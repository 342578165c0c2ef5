@agent-server @security
@shares:agent-server
Feature: Authorization at the agent server
  Authorization handlers return a filter that restricts access, typically to the owner of a thread. The filter is
  merged into the metadata of a new object.

  The handler may return other filters than the owner. Two users may have the same identity in different teams
  (users.2.same_identity); the filter of the handler has the owner and the team, so each sees only their own threads.

  A conforming target may return 403 or 404, or another 4xx, for another user's thread; return 4xx for a filter.

  Background:
    Given a deployed agent server

  @AS-AUTHZ-1 @must @section-5 @isolation
  @needs:users.1 @writes
  Rule: GET of another user's state or run returns an HTTP error, and join reveals nothing of it
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    A join fails if it waits for the run or shows something of it. A join that returns 2xx at once passes here and
    fails AS-RUN-9 if its body is empty, null, an empty object, only __error__, or the same as for an unknown run.
    A server may refuse to create a thread with unusual metadata, or with the id of an existing thread. Judged for
    threads of the first user and of the second.

    Scenario Outline: The request of another user to <operation> of the <owner> user returns an HTTP error
      Given the user is the <owner> configured user
      And a completed run
      When the other user tries to <operation>
      Then the request returns an HTTP error status

      Examples:
        | owner  | operation      |
        | first  | read the state |
        | first  | retrieve a run |
        | second | read the state |
        | second | retrieve a run |

    Scenario Outline: On a connection that has served the user, another user's request to <operation> returns an HTTP error
      Given a completed run
      When on a connection that has served the user, the other user tries to <operation>
      Then the request returns an HTTP error status

      Examples:
        | operation      |
        | read the state |
        | retrieve a run |

    Scenario Outline: A thread of the <owner> user that names another user as owner returns an HTTP error to that user
      Given the user is the <owner> configured user
      And a thread of the user that names the other user as owner
      When the other user tries to read the state
      Then the request returns an HTTP error status

      @needs:users.1.identity
      Examples:
        | owner  |
        | first  |

      @needs:users.0.identity
      Examples:
        | owner  |
        | second |

    Scenario Outline: A thread of the user with <metadata> returns an HTTP error to another user
      Given a thread of the user with <metadata>
      When the other user tries to read the state
      Then the request returns an HTTP error status

      Examples:
        | metadata                               |
        | null as metadata                       |
        | an empty object as metadata            |
        | an object in its metadata              |
        | null as the owner in metadata          |
        | an empty text as the owner in metadata |
        | a list as the owner in metadata        |

    Scenario: Another user who creates a thread with the id of a user's thread sees nothing of it
      Given a completed run on a thread of the user with metadata
      When the other user creates threads with the id of the thread, and reads its state
      Then no response shows the run or the metadata of the thread

    Scenario Outline: GET of the <owner> user's run under another user's thread returns an HTTP error to that other user
      Given the user is the <owner> configured user
      And a completed run
      When the other user tries to retrieve the run under a thread of their own
      Then the request returns an HTTP error status

      Examples:
        | owner  |
        | first  |
        | second |

    Scenario Outline: Another user who writes the ids <spelling> sees nothing of a run
      Given a completed run
      When the other user reads the run by paths with ids <spelling>
      Then no response shows anything of the run

      Examples:
        | spelling           |
        | in capital letters |
        | in braces          |
        | without dashes     |
        | after urn:uuid:    |

    Scenario Outline: With a run of the <owner> user, another user's request to <join> reveals nothing of it
      Given the user is the <owner> configured user
      And a completed run
      When the other user tries to <join>
      Then the response contains nothing of the run

      Examples:
        | owner  | join                                     |
        | first  | join a run                               |
        | first  | join the run under a thread of their own |
        | second | join a run                               |
        | second | join the run under a thread of their own |

    Scenario Outline: With a run in progress of the <owner> user, another user's request to <join> does not wait for its end
      Given the user is the <owner> configured user
      And a run in progress on a new thread
      When the other user, while it is in progress, tries to <join>
      Then the join is refused, or returns before the end of the run
      And the response contains nothing of the run

      Examples:
        | owner  | join                                     |
        | first  | join a run                               |
        | first  | join the run under a thread of their own |
        | second | join a run                               |
        | second | join the run under a thread of their own |

    Scenario Outline: With a run in progress of the <owner> user, another user's request to <operation> returns an HTTP error
      Given the user is the <owner> configured user
      And a run in progress on a new thread
      When during the run, the other user tries to <operation>
      Then the request returns an HTTP error status

      Examples:
        | owner  | operation      |
        | first  | read the state |
        | first  | retrieve a run |
        | second | read the state |
        | second | retrieve a run |

    @needs:users.2.same_identity
    Scenario Outline: With a run of the <owner> user, the request of a user with the same identity to <operation> returns an HTTP error
      Given the user is the <owner> configured user, and the other user has the same identity
      And a completed run
      When the other user tries to <operation>
      Then the request returns an HTTP error status

      Examples:
        | owner  | operation                                    |
        | first  | read the state                               |
        | first  | retrieve a run                               |
        | first  | retrieve the run under a thread of their own |
        | third  | read the state                               |
        | third  | retrieve a run                               |
        | third  | retrieve the run under a thread of their own |

    @needs:users.2.same_identity
    Scenario Outline: With a run of the <owner> user, the request of a user with the same identity to <join> reveals nothing of it
      Given the user is the <owner> configured user, and the other user has the same identity
      And a completed run
      When the other user tries to <join>
      Then the response contains nothing of the run

      Examples:
        | owner  | join                                     |
        | first  | join a run                               |
        | first  | join the run under a thread of their own |
        | third  | join a run                               |
        | third  | join the run under a thread of their own |

    @situation
    Scenario Outline: Another user cannot read a thread on which <event>
      Given a thread on which <event>
      When the thread is used again
      Then another user cannot read the thread or its run

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

  @AS-AUTHZ-2 @must @section-5 @slow
  @needs:users.1 @writes
  Rule: POST of a run on another user's thread returns an HTTP error and does not change it
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    Judged with and without rollback. With rollback, a run in progress of the thread's owner must complete. Judged for
    threads of the first user and of the second.

    Scenario Outline: The request of another user to start <run> on a thread of the <owner> user returns an HTTP error
      Given the user is the <owner> configured user
      And a completed run on a new thread
      When the other user tries to start <run>
      Then the request returns an HTTP error status

      Examples:
        | owner  | run                 |
        | first  | a run               |
        | first  | a run with rollback |
        | second | a run               |
        | second | a run with rollback |

    Scenario Outline: With a run in progress of the <owner> user, another user's request to start <run> returns an HTTP error
      Given the user is the <owner> configured user
      And a run in progress on a new thread
      When during the run, the other user tries to start <run>
      Then the request returns an HTTP error status

      Examples:
        | owner  | run                 |
        | first  | a run               |
        | first  | a run with rollback |
        | second | a run               |
        | second | a run with rollback |

    Scenario Outline: Another user is refused <run> on a thread of the <owner> user, and it is not created
      Given the user is the <owner> configured user
      And a completed run on a new thread
      And the other user was refused <run> on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

      Examples:
        | owner  | run                 |
        | first  | a run               |
        | first  | a run with rollback |
        | second | a run               |
        | second | a run with rollback |

    Scenario Outline: A refused run with rollback of another user does not affect the run in progress of the <owner> user
      Given the user is the <owner> configured user
      And a run in progress on a new thread
      And the other user was refused a run with rollback on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

      Examples:
        | owner  |
        | first  |
        | second |

    @needs:users.2.same_identity
    Scenario Outline: The request of a user with the same identity to start <run> on a thread of the <owner> user returns an HTTP error
      Given the user is the <owner> configured user, and the other user has the same identity
      And a completed run on a new thread
      When the other user tries to start <run>
      Then the request returns an HTTP error status

      Examples:
        | owner  | run                 |
        | first  | a run               |
        | first  | a run with rollback |
        | third  | a run               |
        | third  | a run with rollback |

    @situation
    Scenario Outline: Another user cannot start a run on a thread on which <event>
      Given a thread on which <event>
      When the thread is used again
      Then another user cannot start a run on it

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

  @AS-AUTHZ-3 @must @section-5 @isolation
  @needs:users.1 @writes
  Rule: A list of threads contains only the caller's threads, whatever filter is sent
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    The requests send no filter, an empty filter, metadata that the threads of both users share, the ids of both
    threads, a status, an order, an empty list of ids, empty values, and the other user as owner. A filter may return
    4xx. GET /threads is sent with limit and offset, and with the identity of the other user, too. The listing endpoint
    that is not configured is judged too, if the target serves it. Judged for lists of the first user and of the second,
    and for a user without threads.

    Scenario Outline: A list with <filter> returns no threads of the <owner> user to another user
      Given the user is the <owner> configured user
      And a thread of each of two users
      When the other user lists the threads with <filter>
      Then the list holds no thread of the user
      And the list holds the thread of the other user

      Examples:
        | owner  | filter                          |
        | first  | no filter                       |
        | first  | an empty filter                 |
        | first  | metadata that both threads have |
        | first  | the ids of both threads         |
        | second | no filter                       |
        | second | an empty filter                 |
        | second | metadata that both threads have |
        | second | the ids of both threads         |

    Scenario: The list of a user without threads returns no threads of another user
      Given the user is the first configured user
      When the other user's list from before its first thread is read
      Then the list holds no thread of the user

    Scenario Outline: The other listing endpoint returns no threads of the <owner> user to another user
      Given the user is the <owner> configured user
      And a thread of each of two users
      When the other user lists the threads with the other listing endpoint
      Then the list holds no thread of the user

      Examples:
        | owner  |
        | first  |
        | second |

    Scenario Outline: A list filtered by owner returns no threads of the <owner> user to another user
      Given the user is the <owner> configured user
      And a thread of each of two users
      When the other user lists the threads with the user as owner
      Then the list holds no thread of the user

      @needs:users.0.identity
      Examples:
        | owner  |
        | first  |

      @needs:users.1.identity
      Examples:
        | owner  |
        | second |

    @needs:users.2.same_identity
    Scenario Outline: A list with <filter> returns no threads of the <owner> user to another user with the same identity
      Given the user is the <owner> configured user, and the other user has the same identity
      And a thread of each of two users
      When the other user lists the threads with <filter>
      Then the list holds no thread of the user
      And the list holds the thread of the other user

      Examples:
        | owner  | filter                          |
        | first  | no filter                       |
        | first  | metadata that both threads have |
        | first  | the ids of both threads         |
        | third  | no filter                       |
        | third  | metadata that both threads have |
        | third  | the ids of both threads         |

    @needs:users.2.same_identity
    Scenario Outline: The other listing endpoint returns no threads of the <owner> user to another user with the same identity
      Given the user is the <owner> configured user, and the other user has the same identity
      And a thread of each of two users
      When the other user lists the threads with the other listing endpoint
      Then the list holds no thread of the user

      Examples:
        | owner  |
        | first  |
        | third  |

    @needs:users.2.same_identity @needs:users.0.identity
    Scenario Outline: A list filtered by the owner returns no threads of the <owner> user to another user with the same identity
      Given the user is the <owner> configured user, and the other user has the same identity
      And a thread of each of two users
      When the other user lists the threads with the user as owner
      Then the list holds no thread of the user

      Examples:
        | owner  |
        | first  |
        | third  |

    Scenario Outline: A list filtered by <filter> returns no threads of the first user to another user
      Given a thread of each of two users
      When the other user lists the threads with <filter>
      Then the list holds no thread of the user

      Examples:
        | filter                     |
        | an owner that is an object |
        | an owner that is a list    |
        | an owner that is null      |
        | a status                   |
        | no ids                     |
        | no values                  |
        | an order                   |

    Scenario Outline: GET /threads with a query <purpose> returns no threads of the first user to another user
      Given a thread of each of two users
      When the other user lists the threads with a query <purpose>
      Then the list holds no thread of the user

      Examples:
        | purpose             |
        | for a page          |
        | that names the user |

    Scenario: A list filtered by an object in the metadata returns no threads of the first user to another user
      Given a thread of each of two users, with an object in their metadata
      When the other user lists the threads with the object that both metadata contain
      Then the list holds no thread of the user

  @AS-AUTHZ-4 @should @section-5
  @writes
  Rule: A new thread's owner is the caller, whatever owner was sent; other metadata is kept
    "A typical filter is {owner: <identity>} and it is also merged into the payload metadata."
    The filter of the authorization handler is the typical one: owner with the identity of the caller. If two users
    are configured, both are judged as the caller. A target may also return 4xx if another owner was sent.

    Scenario Outline: The metadata of a new thread of the <owner> user names the caller as owner
      Given the user is the <owner> configured user
      When the user creates a thread
      Then its metadata names the user as owner

      @needs:users.0.identity
      Examples:
        | owner  |
        | first  |

      @needs:users.1.identity
      Examples:
        | owner  |
        | second |

    Scenario Outline: The metadata of a new thread of the <owner> user names the caller as owner even if another owner was sent
      Given the user is the <owner> configured user
      When the user creates a thread that names another owner
      Then its metadata names the user as owner

      @needs:users.0.identity
      Examples:
        | owner  |
        | first  |

      @needs:users.1.identity
      Examples:
        | owner  |
        | second |

    @needs:users
    Scenario: The metadata of a new thread keeps the other keys that were sent
      When the user creates a thread with metadata
      Then its metadata holds the keys that were sent

    @needs:users
    Scenario: The metadata of a new thread keeps texts that a server may escape, trim, normalize or interpret
      When the user creates a thread with metadata of each class of text
      Then its metadata holds these texts unchanged

    @needs:users
    Scenario: The metadata of a new thread keeps objects, lists, numbers, true and false
      When the user creates a thread with metadata of each JSON type
      Then its metadata holds these values unchanged

  @AS-AUTHZ-6 @should @section-5
  @needs:users.1 @writes
  Rule: A vendor extension that serves a thread's owner returns an HTTP error to all others
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    The operations are those of the contract that are marked as vendor extensions and name a thread. Only who is
    served is judged: users other than the owner and callers without credentials must get an HTTP error status. A 2xx
    response also passes if an unknown thread gets the same one and it shows nothing of the thread. Judged for threads
    of the first user and of the second.

    Scenario Outline: <operation> of a thread of the <owner> user returns an HTTP error to all others
      Given the user is the <owner> configured user
      And a completed run
      When the other user, a caller without credentials and then the user try the vendor extension <operation>
      Then it returns an HTTP error to all but the user

      Examples:
        | owner  | operation       |
        | first  | get-thread      |
        | first  | list-runs       |
        | first  | get-history     |
        | first  | find-checkpoint |
        | first  | search-history  |
        | first  | join-run-stream |
        | second | get-thread      |
        | second | list-runs       |
        | second | get-history     |
        | second | find-checkpoint |
        | second | search-history  |
        | second | join-run-stream |

    Scenario Outline: <operation> of a thread of the <owner> user returns an HTTP error to all others, and changes nothing
      Given the user is the <owner> configured user
      And a completed run on a new thread
      When the other user, a caller without credentials and then the user try the vendor extension <operation>
      Then it returns an HTTP error to all but the user
      And the attempts of the others leave the thread unchanged

      Examples:
        | owner  | operation     |
        | first  | update-thread |
        | first  | delete-thread |
        | first  | delete-run    |
        | first  | copy-thread   |
        | first  | update-state  |
        | first  | wait-run      |
        | first  | stream-run    |
        | second | update-thread |
        | second | delete-thread |
        | second | delete-run    |
        | second | copy-thread   |
        | second | update-state  |
        | second | wait-run      |
        | second | stream-run    |

    Scenario Outline: cancel-run of a run in progress of the <owner> user returns an HTTP error to all others
      Given the user is the <owner> configured user
      And a run in progress on a new thread
      When the other user, a caller without credentials and then the user try the vendor extension cancel-run
      Then it returns an HTTP error to all but the user

      Examples:
        | owner  |
        | first  |
        | second |

  @AS-AUTHZ-7 @should @section-5
  @writes
  Rule: Headers such as X-Forwarded-User give no access to another user's thread
    "Resource authorization handlers receive a context (with the user) and the payload, and return a filter object
    restricting access."
    Each GET of the interface is sent by another user and without credentials, with headers that servers behind a
    proxy trust, with a cookie that names the user, and with the cookies that the server has set in its responses to
    the user. Headers that the configuration names are not sent.

    Scenario Outline: With <headers>, <caller> sees nothing of a user's run
      Given a completed run
      When <caller> reads the run with <headers>
      Then no response shows anything of the run

      @needs:users.1
      Examples:
        | caller                       | headers                                              |
        | the other user               | headers that name the user                           |
        | the other user               | headers that claim a studio user or an administrator |
        | the other user               | headers that override the path                       |
        | the other user               | a header that overrides the method                   |

      @needs:users.1 @needs:separate_credentials @needs:credentials.api_key
      Examples: credentials of the control plane
        | caller                       | headers                                              |
        | the other user               | the API key of the control plane                     |

      @needs:users
      Examples:
        | caller                       | headers                                              |
        | a caller without credentials | headers that name the user                           |
        | a caller without credentials | headers that claim a studio user or an administrator |
        | a caller without credentials | headers that claim a request of this machine         |
        | a caller without credentials | headers that override the path                       |
        | a caller without credentials | a header that overrides the method                   |
        | a caller without credentials | a cookie that the server has set                     |

  @AS-AUTHZ-5 @may @section-5 @after:AS-AUTH-5 @after:AS-THREAD-2
  @needs:users @needs:agent.studio_headers @writes
  Rule: A studio user with an empty filter can list and read other users' threads and runs
    "Returning an empty filter for such users permits developer access"
    Judged if the authorization handler returns an empty filter for studio users.

    Scenario Outline: The request of a studio user to <operation> of a user returns 2xx
      Given a completed run
      When a studio user tries to <operation>
      Then the request returns 2xx

      Examples:
        | operation      |
        | read the state |
        | retrieve a run |

    Scenario: The list of a studio user contains the thread of a user
      Given a thread of the user
      When a studio user lists the threads
      Then the list holds the thread
