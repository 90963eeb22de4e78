/** Runs the commands of one stream one after another within this process; commands of other streams don't wait. */
export class StreamQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  run<Result>(stream: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.#last.get(stream)
    const result = previous === undefined ? task() : previous.then(task, task)
    this.#last.set(stream, result)
    const forget = () => {
      if (this.#last.get(stream) === result) this.#last.delete(stream)
    }
    result.then(forget, forget)
    return result
  }
}
