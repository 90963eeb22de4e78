/** Runs the commands of one stream one after another within this process; commands of other streams don't wait. */
export class StreamQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  run<Result>(stream: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.#last.get(stream)
    const result = previous === undefined ? task() : previous.then(task, task)
    this.#remember([stream], result)
    return result
  }

  /** A command on several streams stands in all their queues from the same moment on, so that no two wait for each other. */
  runAll<Result>(streams: readonly string[], task: () => Promise<Result>): Promise<Result> {
    const previous = [...new Set(streams.flatMap((stream) => this.#last.get(stream) ?? []))]
    const result = previous.length === 0 ? task() : Promise.allSettled(previous).then(task)
    this.#remember(streams, result)
    return result
  }

  #remember(streams: readonly string[], result: Promise<unknown>): void {
    for (const stream of streams) this.#last.set(stream, result)
    const forget = () => {
      for (const stream of streams) if (this.#last.get(stream) === result) this.#last.delete(stream)
    }
    result.then(forget, forget)
  }
}
