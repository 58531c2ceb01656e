import Dispatch
DispatchQueue(label: "x").async { while true { sleepy() } }
rows()
