/** Serializes the commands of each stream within this process. Commands on different streams run concurrently. */
export class StreamQueue {
  readonly #lastTasks = new Map<string, Promise<unknown>>()

  run<Result>(stream: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.#lastTasks.get(stream)
    const result = previous === undefined ? task() : previous.then(task, task)
    this.#setLastTask([stream], result)
    return result
  }

  /** Enters the queues of all streams at once, so that two commands on several streams can't deadlock. */
  runAll<Result>(streams: readonly string[], task: () => Promise<Result>): Promise<Result> {
    const previous = [...new Set(streams.flatMap((stream) => this.#lastTasks.get(stream) ?? []))]
    const result = previous.length === 0 ? task() : Promise.allSettled(previous).then(task)
    this.#setLastTask(streams, result)
    return result
  }

  #setLastTask(streams: readonly string[], result: Promise<unknown>): void {
    for (const stream of streams) this.#lastTasks.set(stream, result)
    const forget = () => {
      for (const stream of streams) if (this.#lastTasks.get(stream) === result) this.#lastTasks.delete(stream)
    }
    result.then(forget, forget)
  }
}
