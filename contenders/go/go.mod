module readlab/contenders/go

go 1.18
