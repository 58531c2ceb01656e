import Combine

func cancel(_ work: any Cancellable) { work.cancel() }
