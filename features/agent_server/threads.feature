@agent-server
@shares:agent-server
Feature: Threads
  A thread contains the runs of a graph and the resulting state.

  A conforming target may offer GET /threads or POST /threads/search, or both; show a new thread in the list with a
  delay.

  Background:
    Given a deployed agent server

  @AS-THREAD-1 @must @section-2 @section-4
  @writes
  Rule: POST /threads with an empty object returns a thread_id that differs for each new thread
    "POST /threads ... JSON object (may be empty) ... Thread with thread_id"

    Scenario: Creating a thread returns a thread_id
      When the user creates a thread
      Then the response has a "thread_id"

    Scenario: Two new threads have different ids
      When the user creates two threads
      Then their ids are distinct

    Scenario: Threads that are created at the same time have different ids
      When the user creates six threads at the same time
      Then their ids are distinct

    @last
    @record
    Scenario: Every valid POST of a thread returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "create-thread" returned 2xx

    @last
    @record
    Scenario: No new thread had the id of another thread
      When all exchanges of the test run are read
      Then no new thread has the thread_id of another thread

  @AS-THREAD-2 @must @section-4
  @writes
  Rule: The list of threads is an array that contains the caller's threads
    "GET /threads ... List of threads"
    The listing endpoint is configurable (agent.listing): GET /threads, or POST /threads/search. If it is not
    configured, GET /threads is tried, and POST /threads/search is used if that returns 404, 405, 501 or something other
    than an array. The list is read again for up to timeouts.request. A thread stays in the list, whatever happens on
    it. A list that may be one page of several is judged for new threads only.

    Scenario: A new thread is in the list
      Given a thread of the user
      When the user lists the threads
      Then the list holds the thread

    @last
    @record
    Scenario: Every valid list of threads returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "list-threads" returned 2xx

    @slow
    Scenario: A thread stays in the list during its run
      When the user lists the threads before and during a run of the thread
      Then the list holds the thread

    @situation
    Scenario Outline: A thread on which <event> stays in the list
      Given a thread on which <event>
      When the thread is used again
      Then the list of the user's threads contains it

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
