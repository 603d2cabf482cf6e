-- run by the image of PostgreSQL when the volume is new
CREATE DATABASE sandbox;
