#!/bin/bash
touch web.unit db.unit
