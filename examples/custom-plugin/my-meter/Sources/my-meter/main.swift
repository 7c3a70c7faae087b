import Hemiola
import MyMeter

AnalyzerPlugin.myMeter.serve()
